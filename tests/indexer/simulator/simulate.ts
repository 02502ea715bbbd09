import { selectCursor } from '../../../indexer/sql/progress.ts';
import {
  type OutboxSettings,
  resetPosition,
} from '../../../indexer/webhooks/announce/webhookOutbox.ts';
import type { MirrorDatabase } from '../../../testing/indexer/mirrorDatabase.ts';
import { createChance } from './chance.ts';
import { type Differences, findDifferences } from './differences/findDifferences.ts';
import { disturb } from './disturb.ts';
import { drawFaultRates, NO_FAULTS } from './faultRates.ts';
import { createIndexers } from './indexers.ts';
import { createSimulatedLedger } from './ledger/simulatedLedger.ts';
import { createTraffic } from './ledger/traffic.ts';
import type { SimulatedClock } from './simulatedClock.ts';
import { createUnreliableNode } from './unreliableNode.ts';
import { createUnreliablePool } from './unreliablePool.ts';

const STEP_MS_MAX = 1_200;
/** Enough for a hanging question and the longest pause between two attempts. */
const RECOVERY_MS = 30_000;
/** The indexer looks for what is final, for what vanished and for gaps this often, at least. */
const SETTLE_MS = 2_500;

/** What has come of a run. */
export interface Outcome extends Differences {
  /** What made an indexer give up. */
  readonly fatal: string[];
}

/**
 * Lets indexers keep a mirror while everything goes wrong that may, then lets the faults stop, and
 * compares the mirror with the ledger. All of it follows from the seed.
 *
 * @param options.transactions how many are sent to the ledger, at least
 * @param options.mirror emptied, with webhooks of the wallets
 */
export async function simulate(options: {
  seed: number;
  transactions: number;
  mirror: MirrorDatabase;
  clock: SimulatedClock;
}): Promise<Outcome> {
  const { seed, transactions, mirror, clock } = options;
  const { pool: operator, databaseUrl } = mirror;
  const chanceOf = (part: string) => createChance(seed, part);
  const chance = chanceOf('schedule');
  let currentRates = drawFaultRates(chanceOf('fault rates'));
  const rates = () => currentRates;
  const ledger = createSimulatedLedger(chanceOf('ledger'));
  const traffic = createTraffic({ ledger, chance: chanceOf('traffic'), rates });
  const outboxSettings: OutboxSettings = { awaitsFinality: chance.happens(500) };
  const fatal: string[] = [];
  const indexers = createIndexers({
    ...{ outboxSettings, nowMs: clock.nowMs },
    connect: (name, fate) =>
      createUnreliablePool({
        ...{ databaseUrl, operator, name, fate, clock, rates },
        chance: chanceOf(`connections of ${name}`),
      }),
    observe: (name) =>
      createUnreliableNode({
        ...{ ledger, clock, rates, hidden: traffic.hidden, isFollowed: traffic.isFollowed },
        chance: chanceOf(`node of ${name}`),
        strandings: chanceOf(`strandings of ${name}`),
      }),
    onFatal: ({ message }) => fatal.push(message),
  });

  async function isCurrent(): Promise<boolean> {
    return (await selectCursor(operator, 'finalized')) === ledger.finalizedSlot;
  }

  // The mirror was lost, and is rebuilt from a history that was announced before.
  const found = chance.below(transactions / 2);
  while (ledger.transactions.length < found) traffic.step();
  const floorSlot = ledger.finalizedSlot;
  await resetPosition(operator, floorSlot);
  indexers.start();
  while (ledger.transactions.length < transactions) {
    traffic.step();
    await disturb({ indexers, clock, operator, chance, rates: rates() });
    await clock.advance(chance.below(STEP_MS_MAX));
  }
  currentRates = NO_FAULTS;
  traffic.end();
  if (indexers.count === 0) indexers.start();
  for (let passedMs = 0; passedMs < RECOVERY_MS && !(await isCurrent()); passedMs += SETTLE_MS) {
    await clock.advance(SETTLE_MS);
  }
  // Once more, since the cursor moves before what has vanished is taken back.
  await clock.advance(SETTLE_MS);
  const stopped = indexers.stopAll();
  await clock.advance(RECOVERY_MS);
  await stopped;
  return {
    fatal,
    ...(await findDifferences({ pool: operator, ledger, outboxSettings, floorSlot })),
  };
}
