import { beforeEach, describe, expect, it } from '@jest/globals';
import { workerDeregister, workerSuspend } from '../../programs/client/index.ts';
import { expectEvent } from './support/emission.ts';
import { expectRefusal } from './support/expectations.ts';
import { createWorld, type World } from './support/world.ts';

const ACTIVE = 'active';
const SUSPENDED = 'suspended';

let world: World;
beforeEach(async () => {
  world = await createWorld();
});

const worker = () => world.read('Worker', world.worker);
const suspend = (suspended: boolean, signer = world.arbiter) =>
  workerSuspend({ arbiter: signer.publicKey, worker: world.worker, suspended });

describe('worker_suspend', () => {
  it('suspends a worker and readmits it, each once', async () => {
    const { arbiter } = world;
    const before = await worker();
    await expectRefusal(world, 'WrongWorkerStatus', suspend(false), [arbiter]);
    let workerSequence = 3n;
    for (const [suspended, status] of [
      [true, SUSPENDED],
      [false, ACTIVE],
    ] as const) {
      workerSequence += 1n;
      const event = { worker: world.worker, workerSequence, suspended };
      await expectEvent(world, [suspend(suspended)], [arbiter], 'WorkerSuspended', event);
      expect(await worker()).toEqual({ ...before, sequence: workerSequence, status });
      await expectRefusal(world, 'WrongWorkerStatus', suspend(suspended), [arbiter]);
    }
  });

  it('requires the arbiter’s signature', async () => {
    for (const signer of [world.authority, world.workerAuthority, world.stranger]) {
      await expectRefusal(world, 'Unauthorized', suspend(true, signer), [signer]);
    }
  });

  it('is refused for a deregistered worker', async () => {
    const { chain, workerAuthority, arbiter } = world;
    const leave = workerDeregister({ authority: workerAuthority.publicKey });
    await chain.send([leave], [workerAuthority]);
    for (const suspended of [true, false]) {
      await expectRefusal(world, 'WrongWorkerStatus', suspend(suspended), [arbiter]);
    }
  });
});
