import type { Chance } from './chance.ts';

/** How often each kind of fault happens, in a thousand times. */
export interface FaultRates {
  /** Of questions to a node: it refuses, or never answers, or answers late with what it knew when asked. */
  readonly refusals: number;
  readonly timeouts: number;
  readonly slowAnswers: number;
  /** Of pages: cut short, from a node that is behind, with each slot in another order. */
  readonly shortPages: number;
  readonly lateNodes: number;
  readonly reorderedSlots: number;
  /** Of questions: answered by a node that is minutes behind; of pages: with nothing in them. */
  readonly strandedNodes: number;
  readonly emptyPages: number;
  /** Of rows of a page, in that page. */
  readonly missingRows: number;
  /** Of transactions, for good where the program's are listed. */
  readonly hiddenTransactions: number;
  /** Of statements: the database ends the connection, or the process dies. */
  readonly cuts: number;
  readonly crashes: number;
  /** Of steps: the ledger abandons a fork, or processes and the database come and go. */
  readonly forks: number;
  readonly arrivals: number;
  readonly kills: number;
  readonly departures: number;
  readonly databaseRestarts: number;
}

/** Some faults are absent from some runs, so that what one of them does is not hidden by others. */
export function drawFaultRates(chance: Chance): FaultRates {
  const draw = (...choices: number[]) => chance.pick(choices) as number;
  return {
    refusals: draw(0, 10, 40),
    timeouts: draw(0, 0, 5),
    slowAnswers: draw(0, 20, 100),
    shortPages: draw(0, 100, 400),
    lateNodes: draw(0, 100, 300),
    reorderedSlots: draw(0, 300),
    missingRows: draw(0, 5, 30),
    hiddenTransactions: draw(0, 0, 30),
    cuts: draw(0, 1, 4),
    crashes: draw(0, 0, 2),
    forks: draw(0, 40, 120),
    arrivals: draw(50, 150),
    kills: draw(0, 60, 120),
    departures: draw(0, 30),
    databaseRestarts: draw(0, 0, 30),
    // Absent from the notable seeds that are older.
    strandedNodes: draw(60, 0, 0),
    emptyPages: draw(0, 0, 0, 100),
  };
}

export const NO_FAULTS: FaultRates = {
  ...{ refusals: 0, timeouts: 0, slowAnswers: 0, shortPages: 0, lateNodes: 0, reorderedSlots: 0 },
  ...{ missingRows: 0, hiddenTransactions: 0, cuts: 0, crashes: 0, forks: 0, arrivals: 0 },
  ...{ kills: 0, departures: 0, databaseRestarts: 0, strandedNodes: 0, emptyPages: 0 },
};
