import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createRandom } from '../../testing/random.ts';
import { playRound } from './round.ts';
import { openScene, type Scene } from './scene.ts';
import { createTally } from './tally.ts';

/**
 * Seeded faults over the whole service, and books that are kept outside of it: from the ledger's raw
 * accounts, and from what the clients received. `npm run test:faults -- --faults 10000 --seed 7`
 * plays as many as wanted; the environment has them as `FAULTS` and `SEED`.
 */

const FAULTS = Number(process.env.FAULTS ?? 100);
const MS_PER_FAULT_MAX = 1_000;

const random = createRandom();
const tally = createTally();
let scene: Scene;

beforeAll(async () => {
  scene = await openScene(random, tally);
}, 120_000);

afterAll(() => scene?.close(), 60_000);

describe(`${FAULTS} faults (seed ${random.seed})`, () => {
  it(
    'cost no credit without a whole answer, no stake, no honest worker’s name, and leave no job open',
    async () => {
      let rounds = 0;
      while (tally.total < FAULTS) {
        const violations = await playRound(scene, random, tally);
        rounds += 1;
        expect({ rounds, violations }).toEqual({ rounds, violations: [] });
      }
      await scene.service.expectConserved();
      if (process.env.FAULTS !== undefined) {
        process.stdout.write(`seed ${random.seed}, ${rounds} rounds\n${tally.report()}\n`);
      }
    },
    60_000 + FAULTS * MS_PER_FAULT_MAX,
  );
});
