import { joinClasses } from './joinClasses.ts';
import styles from './values.module.css';

export type Tone = 'ok' | 'warn' | 'bad' | 'live' | 'idle';

/** A shape for each tone, so that none depends on its colour alone. */
const SHAPES = {
  ok: <path d="M2.5 6.5 5 9l4.5-5.5" strokeWidth="1.75" />,
  warn: <path d="M6 1.5 11 10.5H1zM6 5v2.4M6 9v.1" strokeWidth="1.25" />,
  bad: <path d="m3 3 6 6m0-6L3 9" strokeWidth="1.75" />,
  live: (
    <>
      <circle cx="6" cy="6" r="4.25" strokeWidth="1.5" strokeDasharray="2.4 2" />
      <circle cx="6" cy="6" r="1.25" fill="currentColor" stroke="none" />
    </>
  ),
  idle: <circle cx="6" cy="6" r="3.5" strokeWidth="1.5" />,
} as const satisfies Record<Tone, unknown>;

/** A state by its shape and its word. */
export function State({ tone, word }: { readonly tone: Tone; readonly word: string }) {
  return (
    <span className={joinClasses(styles.state, styles[tone])}>
      <svg viewBox="0 0 12 12" fill="none" stroke="currentColor" aria-hidden="true">
        {SHAPES[tone]}
      </svg>
      {word}
    </span>
  );
}
