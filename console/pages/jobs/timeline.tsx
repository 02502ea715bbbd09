import type { ConsoleJob } from '../../../api/console/contracts/index.ts';
import { formatCount, formatMs } from '../../design/formats.ts';
import { joinClasses } from '../../design/joinClasses.ts';
import { Time } from '../../design/time.tsx';
import { spansOf, type Timings } from './spans.ts';
import styles from './timeline.module.css';

interface Step {
  readonly name: string;
  readonly what: string;
  /** By the ledger; null while it has not happened. */
  readonly at: string | null;
}

const DECISIONS = {
  upheld: 'The charge is owed to the wallet, as far as it can be repaid.',
  rejected: 'The charge stands.',
  expired: 'It was not decided in time. The charge stands.',
} as const;

function endOf(job: ConsoleJob): Step {
  const { status, settled_at } = job;
  const locked = formatCount(job.locked_credits);
  if (settled_at === null && (status === 'failed' || status === 'refunded')) {
    const name = status === 'failed' ? 'Failed' : 'Refunded';
    return { name, what: `${locked} credits went back.`, at: job.completed_at };
  }
  const settled = (what: string): Step => ({ name: 'Settled', what, at: settled_at });
  if (settled_at === null) return settled('The ledger checks the proof and pays.');
  // By an upheld dispute, after which the charge is another one.
  if (status === 'refunded') return settled('The ledger checked the proof and paid.');
  const returned = formatCount(job.locked_credits - job.credits_charged);
  return settled(`${formatCount(job.credits_charged)} credits charged, ${returned} returned.`);
}

function stepsOf(job: ConsoleJob): Step[] {
  const { dispute } = job;
  return [
    {
      name: 'Locked',
      what: `${formatCount(job.locked_credits)} credits are set aside.`,
      at: job.created_at,
    },
    {
      name: 'Acknowledged',
      what: job.attempt > 1 ? `By the worker of attempt ${job.attempt}.` : 'By a worker.',
      at: job.acknowledged_at,
    },
    { name: 'Proven', what: 'The worker signed the hash of its text.', at: job.proven_at },
    endOf(job),
    ...(dispute
      ? [
          {
            name: dispute.status === 'open' ? 'Dispute open' : 'Dispute opened',
            what: 'The client says that it received another text.',
            at: dispute.opened_at,
          },
        ]
      : []),
    ...(dispute && dispute.status !== 'open'
      ? [
          {
            name: `Dispute ${dispute.status}`,
            what: DECISIONS[dispute.status],
            at: job.dispute_resolved_at,
          },
        ]
      : []),
  ];
}

/** What happened by the ledger's clock, and how long it took by the service's. */
export function Timeline({ job }: { readonly job: ConsoleJob }) {
  const missing = job.completed_at === null ? 'not yet' : 'never';
  return (
    <>
      <ol className={styles.timeline}>
        {stepsOf(job).map(({ name, what, at }) => (
          <li key={name} className={joinClasses(styles.step, at !== null && styles.done)}>
            <span className={styles.dot} aria-hidden="true" />
            <div>
              <span>{name}</span>
              <p>{what}</p>
            </div>
            <span className={styles.time}>{at ? <Time time={at} /> : missing}</span>
          </li>
        ))}
      </ol>
      {job.timings && <Waterfall timings={job.timings} />}
    </>
  );
}

/** The stages of a job, each where it lies in the whole. */
function Waterfall({ timings }: { readonly timings: Timings }) {
  const spans = spansOf(timings);
  const wholeMs = Math.max(1, ...spans.map(({ toMs }) => toMs));
  return (
    <div className={styles.bars}>
      {spans.map(({ name, fromMs, toMs }) => (
        <div key={name} className={styles.bar}>
          <span>{name}</span>
          <span className={styles.track}>
            <span
              className={styles.fill}
              style={{
                left: `${(fromMs / wholeMs) * 100}%`,
                width: `${((toMs - fromMs) / wholeMs) * 100}%`,
              }}
            />
          </span>
          <span className={styles.ms}>{formatMs(toMs - fromMs)}</span>
        </div>
      ))}
    </div>
  );
}
