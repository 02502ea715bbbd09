import type { ConsoleJob } from '../../../api/contracts/index.ts';
import { formatCount } from '../../design/formats.ts';

/** What happened to a job. */
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

/**
 * A job's steps in their order. What the ledger did at one time stands together: a job that was
 * completed at once was acknowledged, proven and settled then.
 */
export function stepsOf(job: ConsoleJob): Step[] {
  const { dispute } = job;
  return [
    {
      name: 'Locked',
      what: `${formatCount(job.locked_credits)} credits are set aside.`,
      at: job.created_at,
    },
    ...together([
      {
        name: 'Acknowledged',
        what: job.attempt > 1 ? `By the worker of attempt ${job.attempt}.` : 'By a worker.',
        at: job.acknowledged_at,
      },
      { name: 'Proven', what: 'The worker signed the hash of its text.', at: job.proven_at },
      endOf(job),
    ]),
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

function together(steps: readonly Step[]): Step[] {
  const joined: Step[] = [];
  for (const step of steps) {
    const before = joined.at(-1);
    if (before && step.at !== null && step.at === before.at) {
      const name = `${before.name}, ${step.name.toLowerCase()}`;
      joined.splice(-1, 1, { name, what: `${before.what} ${step.what}`, at: step.at });
    } else joined.push(step);
  }
  return joined;
}
