import type { ReactNode } from 'react';
import type { Read } from '../data/queries.ts';
import { Button } from './button.tsx';
import { joinClasses } from './joinClasses.ts';
import styles from './notice.module.css';

/** A few sentences that matter now. */
export function Notice(props: {
  tone: 'bad' | 'warn' | 'ok' | 'info';
  children: ReactNode;
  action?: ReactNode;
}) {
  const { tone, children, action } = props;
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

/** What went wrong, if anything did, and what became of the money. */
export function ErrorNotice(props: {
  error: unknown;
  money: string;
  onRetry?: (() => void) | undefined;
}) {
  const { error, money, onRetry } = props;
  if (error === undefined || error === null) return null;
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

/** Shows that something is being read, or why it could not be, with what that means for the money. */
export function Reading({
  of: { data, error, isLoading, refetch },
  what,
  money = 'Credits are on the ledger and not affected.',
}: {
  of: Read<unknown>;
  what: string;
  money?: string;
}) {
  if (error === null) return isLoading ? <Loading what={what} /> : null;
  const age = data === undefined ? '' : ' What you see was read before.';
  return <ErrorNotice error={error} money={`${money}${age}`} onRetry={() => void refetch()} />;
}

/** A list without entries, with what makes the first one. */
export function Empty({ title, children }: { title: string; children: ReactNode }) {
  return (
    <div className={styles.empty}>
      <p className={styles.emptyTitle}>{title}</p>
      {children}
    </div>
  );
}

/** Keeps the place of what is being read, so that nothing moves when it comes. */
export function Loading({ what }: { what: string }) {
  return (
    <p className={styles.loading} role="status">
      Reading {what}…
    </p>
  );
}
