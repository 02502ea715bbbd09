import type { Condition, Subjects } from './condition.ts';
import { endingConditions } from './endings.ts';
import { historyConditions } from './history.ts';
import { readingConditions } from './reading.ts';
import { settlementConditions } from './settlement.ts';
import { workConditions } from './work.ts';
import { workerConditions } from './workers.ts';

/** Each for one condition of the rules. */
export const allConditions = (subjects: Subjects): Condition[] => [
  ...historyConditions(subjects),
  ...readingConditions(subjects),
  ...settlementConditions(subjects),
  ...endingConditions(subjects),
  ...workerConditions(subjects),
  ...workConditions(subjects),
];
