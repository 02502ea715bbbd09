import { beforeAll, describe, expect, it } from '@jest/globals';
import { expectConserved } from './support/conservation.ts';
import { acknowledge, jobIn, lockJob, prove, readJob, STATUS, settle } from './support/jobs.ts';
import { createWorld, type World } from './support/world.ts';

let world: World;
beforeAll(async () => {
  world = await createWorld();
});

describe('job_settle', () => {
  it('acknowledges, proves and settles in one transaction', async () => {
    const job = await lockJob(world);
    const units = await world.chain.send(
      [...prove(world, job, {}, 1).toSpliced(0, 0, acknowledge(world, job)), settle(world, job)],
      [world.hotSigner],
    );
    console.log('units', units);
    expect((await readJob(world, job)).status).toBe(STATUS.settled);
    await expectConserved(world);
  });

  it('goes through every status', async () => {
    for (const status of Object.keys(STATUS) as (keyof typeof STATUS)[]) {
      const job = await jobIn(world, status);
      expect((await readJob(world, job)).status).toBe(STATUS[status]);
      await expectConserved(world);
    }
  });
});
