import { fails, holds, notCheckable } from '../../check.ts';
import { compare } from '../../compare.ts';
import { eventsNamed } from '../record.ts';
import { rule } from '../rule.ts';

/** Attempts grow, so that a late acknowledgement of an earlier worker changes nothing. */
export const attempts = rule('work.attempts', ['JobAcknowledged'], (_events, record) => {
  const given = eventsNamed(record, 'JobAcknowledged').map(({ data }) => data);
  const isGrowing = given.every(({ attempt }, index) => attempt > (given[index - 1]?.attempt ?? 0));
  const named = given.map(({ attempt, worker }) => `${attempt}: ${worker.toBase58()}`).join(', ');
  return isGrowing ? holds(`Attempt ${named}.`) : fails(`The attempts do not grow: ${named}.`);
});

/** The worker that was given the job last is the one that did it. */
export const assignment = rule(
  'work.assignment',
  ['JobAcknowledged', 'JobProven'],
  ({ JobAcknowledged, JobProven }) => {
    const given = JobAcknowledged.data;
    const { worker, attempt, jobSequence } = JobProven.data;
    if (given.jobSequence !== jobSequence - 1) {
      return notCheckable('The node does not show what came right before the proof.');
    }
    return compare(
      { 'the worker': [worker, given.worker], 'the attempt': [attempt, given.attempt] },
      `Proven by the worker of the last attempt, ${worker.toBase58()}.`,
    );
  },
);
