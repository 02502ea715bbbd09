import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createForgedScene, type ForgedScene, JOB_NAMES } from './forgedScene.ts';
import { ENDING_FORGERIES } from './forgeries/ending.ts';
import { LOCK_FORGERIES } from './forgeries/lock.ts';
import { PROOF_FORGERIES } from './forgeries/proof.ts';
import { SETTLEMENT_FORGERIES } from './forgeries/settlement.ts';

const FORGERIES = [
  ...LOCK_FORGERIES,
  ...PROOF_FORGERIES,
  ...SETTLEMENT_FORGERIES,
  ...ENDING_FORGERIES,
];

describe.each([0, 1] as const)('a forging node, with transactions of version %s,', (version) => {
  let scene: ForgedScene;
  beforeAll(async () => {
    scene = await createForgedScene({ version });
  });
  afterAll(() => scene?.ledger.close());

  it.each(FORGERIES)('is detected: $what', async ({ job, forgery, fails, unchecked = [] }) => {
    const found = await scene.verify(scene.jobs[job], forgery(scene.jobs));
    expect({ fails: found.fails, unchecked: found.unchecked.toSorted() }).toEqual({
      fails,
      unchecked: unchecked.toSorted(),
    });
  });

  it('is tested against every rule about the ledger', async () => {
    const { all } = await scene.verify(scene.jobs.settled, {});
    const tried = new Set(FORGERIES.flatMap(({ fails }) => fails));
    // The client's own evidence, and what only shows where the real event is missing.
    const elsewhere = ['delivery.output', 'delivery.receipt', 'history.authenticity'];
    expect(all.filter((name) => !tried.has(name)).toSorted()).toEqual(elsewhere);
  });

  it.each(JOB_NAMES)('is not suspected without a forgery: %s', async (name) => {
    expect((await scene.verify(scene.jobs[name], {})).result).toBe('holds');
  });
});
