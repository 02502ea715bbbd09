import type { ConsoleJob } from '../../../api/contracts/index.ts';
import { formatCount, shorten } from '../../design/formats.ts';

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

/** The ledger has both hashes, and nothing of what they bind. */
const PROOF =
  'The worker signed the hash of its text, and one that binds the question and any calls of tools.';

const step = (name: string, what: string, at: string | null): Step => ({ name, what, at });

function endOf(job: ConsoleJob): Step {
  const { status, settled_at } = job;
  const locked = formatCount(job.locked_credits);
  if (settled_at === null && (status === 'failed' || status === 'refunded')) {
    const name = status === 'failed' ? 'Failed' : 'Refunded';
    return step(name, `${locked} credits went back.`, job.completed_at);
  }
  const settled = (what: string) => step('Settled', what, settled_at);
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
  const { dispute, attempt, worker_address: worker } = job;
  const named = worker === null ? 'a worker' : `the worker ${shorten(worker)}`;
  const by = attempt > 1 ? `By ${named}, in attempt ${attempt}.` : `By ${named}.`;
  const steps = [
    step('Locked', `${formatCount(job.locked_credits)} credits are set aside.`, job.created_at),
    ...together([
      step('Acknowledged', by, job.acknowledged_at),
      step('Proven', PROOF, job.proven_at),
      endOf(job),
    ]),
  ];
  if (!dispute) return steps;
  const { status, opened_at } = dispute;
  const name = status === 'open' ? 'Dispute open' : 'Dispute opened';
  steps.push(step(name, 'The client says that it received another text.', opened_at));
  if (status !== 'open') {
    steps.push(step(`Dispute ${status}`, DECISIONS[status], job.dispute_resolved_at));
  }
  return steps;
}

function together(steps: readonly Step[]): Step[] {
  const joined: Step[] = [];
  for (const one of steps) {
    const before = joined.at(-1);
    if (before && one.at !== null && one.at === before.at) {
      const name = `${before.name}, ${one.name.toLowerCase()}`;
      joined.splice(-1, 1, step(name, `${before.what} ${one.what}`, one.at));
    } else joined.push(one);
  }
  return joined;
}
