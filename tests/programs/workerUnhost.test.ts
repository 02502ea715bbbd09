import { beforeEach, describe, expect, it } from '@jest/globals';
import { PublicKey } from '@solana/web3.js';
import { workerDeregister, workerHost, workerUnhost } from '../../programs/client/index.ts';
import { expectEvent } from './support/emission.ts';
import { expectRefusal } from './support/expectations.ts';
import { withAccount } from './support/tampering.ts';
import { addresses, createWorld, MODEL, modelInstruction, type World } from './support/world.ts';

const MODELS_MAX = 16;

let world: World;
beforeEach(async () => {
  world = await createWorld();
});

const worker = () => world.read('Worker', world.worker);
const unhost = (modelId: string, authority = world.workerAuthority) =>
  withAccount(workerUnhost({ authority: authority.publicKey, modelId }), 'worker', world.worker);
const slots = (...models: PublicKey[]): PublicKey[] => [
  ...models,
  ...Array.from({ length: MODELS_MAX - models.length }, () => PublicKey.default),
];

describe('worker_unhost', () => {
  it('removes a model and moves the last one into its place', async () => {
    const { chain, authority, workerAuthority } = world;
    const ids = ['model-1', 'model-2'];
    for (const modelId of ids) {
      await chain.send([modelInstruction(world, { id: modelId })], [authority]);
      const hosted = workerHost({ authority: workerAuthority.publicKey, modelId });
      await chain.send([hosted], [workerAuthority]);
    }
    const before = await worker();
    const [first, second] = ids.map((id) => addresses.model(id)) as [PublicKey, PublicKey];
    const removed = { worker: world.worker, workerSequence: 6n, model: world.model };
    await expectEvent(world, [unhost(MODEL.id)], [workerAuthority], 'WorkerUnhosted', removed);
    const models = slots(second, first);
    expect(await worker()).toEqual({ ...before, sequence: 6n, modelsLen: 2, models });
    await chain.send([unhost('model-1'), unhost('model-2')], [workerAuthority]);
    expect(await worker()).toMatchObject({ sequence: 8n, modelsLen: 0, models: slots() });
  });

  it('refuses a model that is not hosted, or no longer', async () => {
    const { chain, workerAuthority } = world;
    await expectRefusal(world, 'NotHosted', unhost('never'), [workerAuthority]);
    await chain.send([unhost(MODEL.id)], [workerAuthority]);
    await expectRefusal(world, 'NotHosted', unhost(MODEL.id), [workerAuthority]);
  });

  it('refuses every signer but the worker’s authority', async () => {
    for (const signer of [world.stranger, world.authority, world.arbiter, world.proofKey]) {
      await expectRefusal(world, 'Unauthorized', unhost(MODEL.id, signer), [signer]);
    }
  });

  it('is allowed for a deregistered worker', async () => {
    const { chain, workerAuthority } = world;
    const leave = workerDeregister({ authority: workerAuthority.publicKey });
    await chain.send([leave, unhost(MODEL.id)], [workerAuthority]);
    expect((await worker()).modelsLen).toBe(0);
  });
});
