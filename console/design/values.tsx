import type { ReactNode } from 'react';
import type { ConsoleJob } from '../../api/contracts/index.ts';
import { useExplorer } from '../data/ledger.ts';
import { CopyIconButton } from './copy.tsx';
import { formatCount, shorten } from './formats.ts';
import { ExternalIcon } from './icons.tsx';
import { joinClasses } from './joinClasses.ts';
import styles from './values.module.css';

/** A job's id in a list: the prefix says what it is, the end distinguishes it from others. */
export function shortenJobId(id: string): string {
  return `job_…${id.slice(-8)}`;
}

/** An address of the ledger, which can be copied whole. */
export function Address(props: { address: string; what?: string; href?: string | undefined }) {
  const { address, what = 'address', href } = props;
  return (
    <span className={styles.address} title={address}>
      {href ? <a href={href}>{shorten(address)}</a> : shorten(address)}
      <CopyIconButton text={address} what={what} />
    </span>
  );
}

/** A transaction of this service's ledger. */
export function Transaction({ signature }: { signature: string }) {
  return <TransactionLink signature={signature} href={useExplorer().transaction(signature)} />;
}

/** A transaction with a link to an explorer, which gets no referrer. */
export function TransactionLink({
  signature,
  href,
}: {
  signature: string;
  href?: string | undefined;
}) {
  return (
    <span className={styles.address} title={signature}>
      {href ? (
        <a href={href} rel="noreferrer noopener">
          {shorten(signature)} <ExternalIcon />
        </a>
      ) : (
        shorten(signature)
      )}
      <CopyIconButton text={signature} what="transaction signature" />
    </span>
  );
}

const CREDITS_PER_USDC = 100n;

/** One credit is 0.01 of the stablecoin, so the amount is exact. */
export function formatUsdc(credits: number | bigint): string {
  const value = BigInt(credits);
  const sign = value < 0n ? '−' : '';
  const size = value < 0n ? -value : value;
  const cents = String(size % CREDITS_PER_USDC).padStart(2, '0');
  return `${sign}${formatCount(size / CREDITS_PER_USDC)}.${cents} USDC`;
}

/** An amount of credits with its stablecoin beneath, or beside it in text. */
export function Credits(props: {
  credits: number | bigint;
  size?: 'large' | 'line';
  /** Whether the unit stands behind it, as it does behind a large one. */
  isNamed?: boolean;
}) {
  const { credits, size, isNamed = size === 'large' } = props;
  return (
    <span className={joinClasses(styles.credits, size === 'large' && styles.large)}>
      {formatCount(credits)}
      {isNamed && <span className={styles.unit}> credits</span>}
      {size === 'line' ? (
        <span className="soft"> ({formatUsdc(credits)})</span>
      ) : (
        <span className={styles.usdc}>{formatUsdc(credits)}</span>
      )}
    </span>
  );
}

/** The amount that was entered, or a sentence that says what is wrong with it. */
type ReadCredits =
  | { readonly credits: bigint; readonly wrong?: never }
  | { readonly credits?: never; readonly wrong: string };

/** Alone, or with commas between thousands: "1,5" must not become 15. */
const WHOLE = /^(?:\d{1,20}|\d{1,3}(?:,\d{3})+)$/;

/**
 * Reads an amount as it was written.
 *
 * @param bounds.name what the amount is, as the sentence begins
 * @param bounds.least the smallest one that is taken; by default 1
 */
export function readCredits(
  text: string,
  { name, least = 1n, most }: { readonly name: string; readonly least?: bigint; most: bigint },
): ReadCredits {
  const given = text.trim();
  const credits = WHOLE.test(given) ? BigInt(given.replaceAll(',', '')) : undefined;
  if (credits !== undefined && credits >= least && credits <= most) return { credits };
  const range = `${formatCount(least)} to ${formatCount(most)}`;
  return { wrong: `${name}: a whole number from ${range}.` };
}

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
export function State({ tone, word }: { tone: Tone; word: string }) {
  return (
    <span className={joinClasses(styles.state, styles[tone])}>
      <svg viewBox="0 0 12 12" fill="none" stroke="currentColor" aria-hidden="true">
        {SHAPES[tone]}
      </svg>
      {word}
    </span>
  );
}

const TONES: Readonly<Record<ConsoleJob['status'], Tone>> = {
  pending: 'live',
  processing: 'live',
  settling: 'live',
  settled: 'ok',
  failed: 'bad',
  refunded: 'idle',
  disputed: 'warn',
};

export function JobState({ status }: Pick<ConsoleJob, 'status'>) {
  return <State tone={TONES[status]} word={status} />;
}

export const JOB_STATES = Object.keys(TONES) as readonly ConsoleJob['status'][];

/** A value with another one beneath it, in a cell of a table. */
export const Over = ({ children, below }: { children: ReactNode; below: ReactNode }) => (
  <>
    {children}
    <div className="soft">{below}</div>
  </>
);
