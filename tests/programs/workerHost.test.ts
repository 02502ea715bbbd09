import { beforeEach, describe, expect, it } from '@jest/globals';
import { PublicKey } from '@solana/web3.js';
import {
  workerDeregister,
  workerHost,
  workerModels,
  workerUnhost,
} from '../../programs/client/index.ts';
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
const host = (modelId: string, authority = world.workerAuthority) =>
  withAccount(workerHost({ authority: authority.publicKey, modelId }), 'worker', world.worker);

describe('worker_host', () => {
  it('appends a model to those already hosted', async () => {
    const { chain, authority, workerAuthority } = world;
    const id = 'another-8b';
    await chain.send([modelInstruction(world, { id })], [authority]);
    const before = await worker();
    const model = addresses.model(id);
    const hosted = { worker: world.worker, workerSequence: 4n, model };
    await expectEvent(world, [host(id)], [workerAuthority], 'WorkerHosted', hosted);
    const none = Array.from({ length: MODELS_MAX - 2 }, () => PublicKey.default);
    const models = [world.model, model, ...none];
    expect(await worker()).toEqual({ ...before, sequence: 4n, modelsLen: 2, models });
  });

  it('adds up to 16 models, each once', async () => {
    const { chain, authority, workerAuthority } = world;
    await expectRefusal(world, 'AlreadyHosted', host(MODEL.id), [workerAuthority]);
    const ids = Array.from({ length: MODELS_MAX }, (_, index) => `model-${index}`);
    for (const id of ids) await chain.send([modelInstruction(world, { id })], [authority]);
    for (const id of ids.slice(1)) await chain.send([host(id)], [workerAuthority]);
    await expectRefusal(world, 'TooManyModels', host('model-0'), [workerAuthority]);
    await expectRefusal(world, 'AlreadyHosted', host('model-15'), [workerAuthority]);
    const expected = [MODEL.id, ...ids.slice(1)].map((id) => addresses.model(id));
    expect(workerModels(await worker())).toEqual(expected);
    const by = { authority: workerAuthority.publicKey };
    const unhost = workerUnhost({ ...by, modelId: 'model-15' });
    await chain.send([unhost, host('model-0')], [workerAuthority]);
    expect(workerModels(await worker()).at(-1)).toEqual(addresses.model('model-0'));
  });

  it('refuses every signer but the worker’s authority', async () => {
    for (const signer of [world.stranger, world.authority, world.arbiter, world.proofKey]) {
      await expectRefusal(world, 'Unauthorized', host(MODEL.id, signer), [signer]);
    }
  });

  it('is refused for a deregistered worker', async () => {
    const { chain, workerAuthority } = world;
    const leave = workerDeregister({ authority: workerAuthority.publicKey });
    await chain.send([leave], [workerAuthority]);
    await expectRefusal(world, 'WrongWorkerStatus', host(MODEL.id), [workerAuthority]);
  });

  it('refuses a model that is not in the catalog', async () => {
    const unknown = host('no-such-model');
    await expectRefusal(world, 'WrongAccountOwner', unknown, [world.workerAuthority]);
  });
});
