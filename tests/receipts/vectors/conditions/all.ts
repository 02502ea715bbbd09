import { boundaries } from './boundaries.ts';
import { callLies } from './callLies.ts';
import type { Condition, Subjects } from './condition.ts';
import { endingConditions } from './endings.ts';
import { eventLies } from './eventLies.ts';
import { evidenceLies } from './evidenceLies.ts';
import { historyConditions } from './history.ts';
import { omissions } from './omissions.ts';
import { readingConditions } from './reading.ts';
import { settlementConditions } from './settlement.ts';
import { workConditions } from './work.ts';
import { workerConditions } from './workers.ts';

/** Each for one condition of the rules. */
export const allConditions = (subjects: Subjects): Condition[] =>
  [
    eventLies,
    callLies,
    evidenceLies,
    omissions,
    boundaries,
    historyConditions,
    readingConditions,
    settlementConditions,
    endingConditions,
    workerConditions,
    workConditions,
  ].flatMap((conditionsOf) => conditionsOf(subjects));
