import type { JobStatus } from '../../../vocabulary.ts';
import { fails, holds, notCheckable } from '../../check.ts';
import { historyRule } from '../rule.ts';
import { isPossible, statusAfter } from '../status.ts';

/** Each change was possible in the state that the one before it left. */
export const states = historyRule('history.states', ({ events, isComplete }) => {
  const path: JobStatus[] = [];
  let wasDisputed = false;
  for (const event of events) {
    const { name } = event;
    if (!isPossible(name, path.at(-1)) || (wasDisputed && name === 'JobDisputed')) {
      return isComplete
        ? fails(`${name} is not possible after ${path.join(' → ') || 'nothing'}.`)
        : notCheckable('What came between the events that the node shows is not known.');
    }
    wasDisputed ||= name === 'JobDisputed';
    path.push(statusAfter(event, path.at(-1)));
  }
  return holds(`${path.filter((status, index) => status !== path[index - 1]).join(' → ')}.`);
});
