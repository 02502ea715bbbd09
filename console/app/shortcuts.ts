import { useEffect, useRef } from 'react';
import { useLocation } from 'wouter';
import { useSession } from '../session/session.tsx';
import { navigationFor } from './navigation.ts';

/** How long `g` waits for its second letter. */
const SEQUENCE_MS = 1_200;

/** Whether a key without a modifier is text of a field. */
function isTyping(target: EventTarget | null): boolean {
  return (
    target instanceof HTMLElement &&
    (target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName))
  );
}

/** Follows a path, as a page of this app or as a document of its own. */
export function useFollow(): (path: string) => void {
  const [, navigate] = useLocation();
  return (path) => {
    if (path.startsWith('/console')) navigate(path);
    else window.location.assign(path);
  };
}

/** ⌘K, `?`, `/`, and `g` with a letter. */
export function useShortcuts(actions: {
  readonly onPalette: () => void;
  readonly onHelp: () => void;
}): void {
  const { session } = useSession();
  const follow = useFollow();
  const latest = useRef({ ...actions, session, follow });
  latest.current = { ...actions, session, follow };
  useEffect(() => {
    let leaderAtMs = Number.NEGATIVE_INFINITY;
    const handle = (event: KeyboardEvent) => {
      const { onPalette, onHelp, session: current, follow: go } = latest.current;
      if ((event.metaKey || event.ctrlKey) && event.key.toLowerCase() === 'k') {
        event.preventDefault();
        onPalette();
        return;
      }
      if (event.metaKey || event.ctrlKey || event.altKey || isTyping(event.target)) return;
      if (document.querySelector('[role="dialog"]')) return;
      // The time of the press: a busy page handles it later.
      if (event.timeStamp - leaderAtMs < SEQUENCE_MS) {
        leaderAtMs = Number.NEGATIVE_INFINITY;
        const destination = navigationFor(current)
          .flatMap(({ destinations }) => destinations)
          .find(({ letter }) => letter === event.key);
        if (destination) {
          event.preventDefault();
          go(destination.path);
        }
        return;
      }
      if (event.key === 'g') leaderAtMs = event.timeStamp;
      if (event.key === '?') onHelp();
      if (event.key === '/') {
        const search = document.querySelector<HTMLElement>('[data-search]');
        if (search === null) return;
        event.preventDefault();
        search.focus();
      }
    };
    document.addEventListener('keydown', handle);
    return () => document.removeEventListener('keydown', handle);
  }, []);
}
