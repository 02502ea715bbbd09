import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Keypair } from '@solana/web3.js';
import { createForgedScene, type ForgedScene, JOB_NAMES } from './forgedScene.ts';
import { FORGERIES } from './forgeries/all.ts';
import { forgeEvent, set } from './forgeries/forge.ts';

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

  it('is detected: the worker of the attempt that was completed', async () => {
    const job = scene.jobs.acknowledged;
    const another = set('worker', Keypair.generate().publicKey);
    const { fails } = await scene.verify(job, forgeEvent('JobAcknowledged', another, job));
    // Whether the account contradicts it depends on the second in which it was acknowledged.
    expect(fails).toContain('work.assignment');
  });

  it('is tested against every rule about the ledger', async () => {
    const { all } = await scene.verify(scene.jobs.settled, {});
    const tried = new Set(FORGERIES.flatMap(({ fails }) => fails));
    // The client's own evidence, and what only shows where the real event is missing.
    const given = ['answer', 'output', 'receipt', 'request'].map((name) => `delivery.${name}`);
    const elsewhere = [...given, 'history.authenticity', 'model.card'];
    expect(all.filter((name) => !tried.has(name)).toSorted()).toEqual(elsewhere);
  });

  it.each(JOB_NAMES)('is not suspected without a forgery: %s', async (name) => {
    expect((await scene.verify(scene.jobs[name], {})).result).toBe('holds');
  });
});
