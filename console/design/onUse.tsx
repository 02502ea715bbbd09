import { type ComponentType, type ReactNode, useEffect, useRef, useState } from 'react';
import { Button } from './button.tsx';
import styles from './notice.module.css';
import { Notice } from './notice.tsx';
import { Row } from './page.tsx';

interface FailureProps {
  readonly onRetry: () => void;
  readonly onClose?: (() => void) | undefined;
}

type State = 'loading' | 'loaded' | 'failed';

/** A component that can also be loaded before it is drawn. */
export type OnUse<Props> = ComponentType<Props> & { readonly load: () => Promise<void> };

/**
 * A component whose code is loaded when it is first drawn. A failure is shown in its place, and a
 * press loads it again: React's `lazy` would keep the failure until the page is reloaded.
 *
 * @param loading stands in its place until then
 */
export function onUse<Props extends object>(
  load: () => Promise<{ readonly default: ComponentType<Props> }>,
  loading?: ReactNode,
): OnUse<Props> {
  return loadedBy(load, { loading, Failure: FailedPart });
}

/** The same for a dialog: a failure is a dialog too. */
export function dialogOnUse<Props extends { readonly onClose: () => void }>(
  load: () => Promise<{ readonly default: ComponentType<Props> }>,
): OnUse<Props> {
  return loadedBy(load, { loading: null, Failure: FailedDialog });
}

function loadedBy<Props extends { readonly onClose?: () => void }>(
  load: () => Promise<{ readonly default: ComponentType<Props> }>,
  drawn: { readonly loading: ReactNode; readonly Failure: ComponentType<FailureProps> },
): OnUse<Props> {
  const { loading, Failure } = drawn;
  let Loaded: ComponentType<Props> | undefined;
  const start = async () => {
    Loaded = (await load()).default;
  };

  function Component(props: Props) {
    const [state, setState] = useState<State>('loading');
    const isMissing = state === 'loading' && Loaded === undefined;
    useEffect(() => {
      if (!isMissing) return;
      let isGone = false;
      const end = (next: State) => () => {
        if (!isGone) setState(next);
      };
      start().then(end('loaded'), end('failed'));
      return () => {
        isGone = true;
      };
    }, [isMissing]);
    if (Loaded !== undefined) return <Loaded {...props} />;
    if (state !== 'failed') return loading;
    return <Failure onRetry={() => setState('loading')} onClose={props.onClose} />;
  }
  return Object.assign(Component, { load: start });
}

function FailedPart({ onRetry, onClose }: FailureProps) {
  return (
    <Notice
      tone="bad"
      action={
        <Row>
          <Button size="small" onClick={onRetry}>
            Try again
          </Button>
          {onClose && (
            <Button size="small" onClick={onClose}>
              Close
            </Button>
          )}
        </Row>
      }
    >
      <p>This could not be loaded. You may be offline.</p>
      <p>Nothing was sent or signed. If it fails again, reload the page.</p>
    </Notice>
  );
}

/** The browser's own dialog element, since the code of ours may be what failed to load. */
function FailedDialog(props: FailureProps) {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => dialog.current?.showModal(), []);
  return (
    <dialog ref={dialog} className={styles.dialog} aria-label="Not loaded" onClose={props.onClose}>
      <FailedPart {...props} />
    </dialog>
  );
}
