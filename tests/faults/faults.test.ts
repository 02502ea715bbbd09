import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createRandom } from '../../testing/random.ts';
import { readLedger } from './books.ts';
import { complete } from './client.ts';
import { playRound } from './round.ts';
import { openScene, type Scene, type Wallet } from './scene.ts';
import { createTally } from './tally.ts';
import { convictGuilty } from './thieves.ts';

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

/** The books would show a lost stake: two signatures of one attempt are enough for one. */
async function expectConvictable(): Promise<void> {
  const { service, wallets, honest } = scene;
  const wallet = wallets[0] as Wallet;
  const { jobId } = await complete({
    baseUrl: service.baseUrl,
    headers: { authorization: `Bearer ${wallet.apiKey}` },
    body: JSON.stringify({
      model: service.model.id,
      messages: [{ role: 'user', content: 'The last one.' }],
    }),
  });
  const state = await readLedger(service);
  const job = state.jobs.find(({ id, status }) => id === jobId && status === 'settled');
  if (!job) return;
  expect(await convictGuilty(scene, { job, wallet })).toBe(true);
  const after = await readLedger(service);
  const changed = [...state.workers].filter(
    ([address, { stakeTokens }]) => after.workers.get(address)?.stakeTokens !== stakeTokens,
  );
  expect(changed.map(([address]) => address)).toEqual([job.worker]);
  expect(honest.length).toBeGreaterThan(0);
}

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
      await expectConvictable();
      if (process.env.FAULTS !== undefined) {
        process.stdout.write(`seed ${random.seed}, ${rounds} rounds\n${tally.report()}\n`);
      }
    },
    60_000 + FAULTS * MS_PER_FAULT_MAX,
  );
});
