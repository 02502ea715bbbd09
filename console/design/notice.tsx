import type { ReactNode } from 'react';
import { Button } from './button.tsx';
import { joinClasses } from './joinClasses.ts';
import styles from './notice.module.css';

/** A few sentences that matter now. */
export function Notice({
  tone,
  children,
  action,
}: {
  readonly tone: 'bad' | 'warn' | 'ok' | 'info';
  readonly children: ReactNode;
  readonly action?: ReactNode;
}) {
  return (
    <div
      className={joinClasses(styles.notice, styles[tone])}
      role={tone === 'bad' ? 'alert' : 'status'}
    >
      <div className={styles.body}>
        {children}
        {action && <div className={styles.actions}>{action}</div>}
      </div>
    </div>
  );
}

/** What went wrong, and what became of the money. */
export function ErrorNotice({
  error,
  money,
  onRetry,
}: {
  readonly error: unknown;
  readonly money: string;
  readonly onRetry?: (() => void) | undefined;
}) {
  return (
    <Notice
      tone="bad"
      action={
        onRetry && (
          <Button size="small" onClick={onRetry}>
            Try again
          </Button>
        )
      }
    >
      <p>{sentenceOf(error)}</p>
      <p>{money}</p>
    </Notice>
  );
}

function sentenceOf(error: unknown): string {
  return error instanceof Error ? error.message : 'Something went wrong in this page.';
}

/** A list without entries, with what makes the first one. */
export function Empty({
  title,
  children,
}: {
  readonly title: string;
  readonly children: ReactNode;
}) {
  return (
    <div className={styles.empty}>
      <p className={styles.emptyTitle}>{title}</p>
      {children}
    </div>
  );
}

/** Keeps the place of what is being read, so that nothing moves when it comes. */
export function Loading({ what }: { readonly what: string }) {
  return (
    <p className={styles.loading} role="status">
      Reading {what}…
    </p>
  );
}
