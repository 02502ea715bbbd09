import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createRandom } from '../../testing/random.ts';
import { type JobAccount, readLedger } from './books.ts';
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
const MS_PER_FAULT_MAX = 6_000;

const random = createRandom();
const tally = createTally();
let scene: Scene;

beforeAll(async () => {
  scene = await openScene(random, tally);
}, 300_000);

afterAll(() => scene?.close(), 120_000);

/** Another completion, by a worker whose key is at hand. */
async function settleJob(wallet: Wallet): Promise<JobAccount> {
  for (;;) {
    const { jobId } = await complete({
      baseUrl: scene.service.baseUrl,
      headers: { authorization: `Bearer ${wallet.apiKey}` },
      body: JSON.stringify({
        model: scene.service.model.id,
        messages: [{ role: 'user', content: 'The last one.' }],
      }),
    });
    const { jobs } = await readLedger(scene.service);
    const job = jobs.find(({ id, status }) => id === jobId && status === 'settled');
    if (job && scene.service.workers.some(({ address }) => address === job.worker)) return job;
  }
}

/** The books would show a lost stake: two signatures for one attempt cost one. */
async function expectStakesShown(): Promise<void> {
  const wallet = scene.wallets[0] as Wallet;
  const job = await settleJob(wallet);
  const before = await readLedger(scene.service);
  expect(await convictGuilty(scene, { job, wallet })).toBe(true);
  const after = await readLedger(scene.service);
  const changed = [...before.workers].filter(
    ([address, { stakeTokens }]) => after.workers.get(address)?.stakeTokens !== stakeTokens,
  );
  expect(changed.map(([address]) => address)).toEqual([job.worker]);
}

describe(`${FAULTS} faults (seed ${random.seed})`, () => {
  it(
    'cost no unpaid credit, no stake and no good name, and leave no job open',
    async () => {
      let rounds = 0;
      while (tally.total < FAULTS) {
        const violations = await playRound(scene, random, tally);
        rounds += 1;
        expect({ rounds, violations }).toEqual({ rounds, violations: [] });
      }
      await scene.service.expectConserved();
      const failures = [...(await scene.failures()).values()];
      expect(failures.some((count) => count > 0)).toBe(true);
      if (process.env.FAULTS !== undefined) {
        process.stdout.write(`seed ${random.seed}, ${rounds} rounds\n${tally.report()}\n`);
      }
      await expectStakesShown();
    },
    300_000 + FAULTS * MS_PER_FAULT_MAX,
  );
});
