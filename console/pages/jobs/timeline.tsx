import type { ConsoleJob } from '../../../api/console/contracts/index.ts';
import { formatCount } from '../../design/formats.ts';
import { joinClasses } from '../../design/joinClasses.ts';
import { Time } from '../../design/time.tsx';
import styles from './timeline.module.css';
import { Waterfall } from './waterfall.tsx';

interface Step {
  readonly name: string;
  readonly what: string;
  /** By the ledger; null while it has not happened. */
  readonly at: string | null;
}

function stepsOf(job: ConsoleJob): Step[] {
  const { status, dispute } = job;
  const ending: Step =
    status === 'failed' || status === 'refunded'
      ? {
          name: status === 'failed' ? 'Failed' : 'Refunded',
          what: `${formatCount(job.locked_credits)} credits went back.`,
          at: job.completed_at,
        }
      : {
          name: 'Settled',
          what: job.settled_at
            ? `${formatCount(job.credits_charged)} credits charged, ${formatCount(job.locked_credits - job.credits_charged)} returned.`
            : 'The ledger checks the proof and pays.',
          at: job.settled_at,
        };
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
    ending,
    ...(dispute
      ? [
          {
            name: `Dispute ${dispute.status}`,
            what: 'The client received another text, it says.',
            at: dispute.opened_at,
          },
        ]
      : []),
  ];
}

/** What happened by the ledger's clock, and how long it took by the service's. */
export function Timeline({ job }: { readonly job: ConsoleJob }) {
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
            <span className={styles.time}>{at ? <Time time={at} /> : 'not yet'}</span>
          </li>
        ))}
      </ol>
      {job.timings && <Waterfall timings={job.timings} />}
    </>
  );
}
