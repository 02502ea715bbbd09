import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { PublicKey } from '@solana/web3.js';
import {
  stakeDeposit,
  stakeUnlock,
  stakeWithdraw,
  workerDeregister,
  workerHost,
  workerRegister,
  workerSuspend,
  workerUnhost,
  workerUpdate,
} from '../../programs/client/index.ts';
import { expectConserved } from './support/conservation.ts';
import { expectEffect } from './support/emission.ts';
import { expectRefusal, pass } from './support/expectations.ts';
import { freshWorld } from './support/freshWorld.ts';
import { jobIn, prove } from './support/jobs.ts';
import { host, leave, setTerms, suspend, unlockStake } from './support/parties.ts';
import {
  addresses,
  MODEL,
  modelInstruction,
  SETTINGS,
  STAKE_TOKENS,
  send,
  type World,
} from './support/world.ts';

const COOLDOWN = BigInt(SETTINGS.unstakeCooldownSeconds);
const ONE_TOKEN = 1_000_000_000n;
const MODELS_MAX = 16;

let world: World;
beforeEach(async () => {
  world = await freshWorld();
});
afterEach(() => expectConserved(world));

const worker = () => world.read('Worker', world.worker);
const authority = () => world.workerAuthority.publicKey;
const slots = (...models: PublicKey[]): PublicKey[] => [
  ...models,
  ...Array.from({ length: MODELS_MAX - models.length }, () => PublicKey.default),
];
const endpointBytes = (endpoint: string): Uint8Array => {
  const bytes = new Uint8Array(128);
  bytes.set(Buffer.from(endpoint));
  return bytes;
};

// What they refuse: support/refusals/accounts.ts, and accounts.test.ts.
describe('worker_register', () => {
  it.each([1, 128])('records a worker and an endpoint of %i characters', async (length) => {
    const endpoint = 'h'.repeat(length);
    const described = {
      authority: world.stranger.publicKey,
      proofKey: world.proofKey.publicKey,
      payout: world.payout,
    };
    const own = addresses.worker(described.authority);
    const register = workerRegister({ ...described, endpoint });
    await expectEffect({ ...world, worker: own }, register, 'WorkerRegistered', {
      worker: {
        ...described,
        status: 'active',
        stakeTokens: 0n,
        unstakingTokens: 0n,
        unstakeReadyAt: 0n,
        claimableBaseUnits: 0n,
        jobsSettled: 0n,
        registeredAt: await world.chain.now(),
        endpointLen: length,
        endpoint: endpointBytes(endpoint),
        modelsLen: 0,
        reserved: new Uint8Array(20),
      },
      said: { endpoint },
    });
  });
});

describe('worker_update', () => {
  const update = (changes: Partial<Parameters<typeof workerUpdate>[0]>) =>
    workerUpdate({
      authority: authority(),
      payout: world.payout,
      proofKey: world.proofKey.publicKey,
      endpoint: 'https://a.example',
      ...changes,
    });

  it.each([
    ['active', async () => undefined],
    ['suspended', () => suspend(world, true)],
    ['deregistered', () => leave(world)],
  ])('records payee, proof key and endpoint of a worker that is %s', async (_, become) => {
    const { stranger, creditMint } = world;
    await become();
    const endpoint = 'h'.repeat(128);
    const payout = world.token(creditMint, stranger.publicKey);
    const described = { proofKey: stranger.publicKey, payout };
    await expectEffect(world, update({ ...described, endpoint }), 'WorkerUpdated', {
      worker: {
        ...described,
        previousProofKey: world.proofKey.publicKey,
        proofKeyChangedAt: await world.chain.now(),
        endpointLen: 128,
        endpoint: endpointBytes(endpoint),
      },
      said: { endpoint },
    });
  });

  it.each([false, true])(
    'makes only the new key’s proofs valid, at once (worker deregistered: %s)',
    async (left) => {
      const { stranger } = world;
      const job = await jobIn(world, 'processing');
      if (left) await leave(world);
      await send(world, update({ proofKey: stranger.publicKey }));
      await expectRefusal(world, 'SignatureInvalid', prove(world, job));
      await send(world, prove(world, job, { key: stranger }));
    },
  );

  it('may change all but the proof key while a dispute may need the one before', async () => {
    const proofKey = world.stranger.publicKey;
    await send(world, update({ proofKey }));
    const changedAt = await world.chain.now();
    await pass(world, 100n);
    await send(world, update({ proofKey, endpoint: 'https://b.example' }));
    expect((await worker()).proofKeyChangedAt).toBe(changedAt);
  });
});

describe('a worker’s models', () => {
  it('are appended, and the last one takes the place of one that goes', async () => {
    const ids = ['model-1', 'model-2'] as const;
    for (const id of ids) await send(world, modelInstruction(world, { id }));
    const [first, second] = [addresses.model(ids[0]), addresses.model(ids[1])];
    await host(world, ids[0]);
    const append = workerHost({ authority: authority(), modelId: ids[1] });
    await expectEffect(world, append, 'WorkerHosted', {
      worker: { modelsLen: 3, models: slots(world.model, first, second) },
      said: { model: second },
    });
    const remove = workerUnhost({ authority: authority(), modelId: MODEL.id });
    await expectEffect(world, remove, 'WorkerUnhosted', {
      worker: { modelsLen: 2, models: slots(second, first) },
      said: { model: world.model },
    });
  });
});

describe('worker_suspend', () => {
  it('suspends a worker and readmits it', async () => {
    const arbiter = world.arbiter.publicKey;
    for (const [suspended, status] of [
      [true, 'suspended'],
      [false, 'active'],
    ] as const) {
      const change = workerSuspend({ arbiter, worker: world.worker, suspended });
      await expectEffect(world, change, 'WorkerSuspended', {
        worker: { status },
        said: { suspended },
      });
    }
  });
});

describe('worker_deregister', () => {
  it.each([false, true])(
    'is for good, but keeps the account (suspended: %s)',
    async (isSuspended) => {
      if (isSuspended) await suspend(world, true);
      const deregister = workerDeregister({ authority: authority() });
      await expectEffect(world, deregister, 'WorkerDeregistered', {
        worker: { status: 'deregistered' },
      });
    },
  );
});

const deposit = (tokens: bigint) => {
  const { stranger, stakeMint } = world;
  return stakeDeposit({
    depositor: stranger.publicKey,
    depositorTokenAccount: world.token(stakeMint, stranger.publicKey, tokens * ONE_TOKEN),
    worker: world.worker,
    tokens,
  });
};

describe('stake_deposit', () => {
  it('adds whole tokens to the stake, from any payer', async () => {
    const instruction = deposit(5n);
    await expectEffect(world, instruction, 'StakeDeposited', {
      worker: { stakeTokens: STAKE_TOKENS + 5n },
      said: { tokens: 5n },
    });
    const [, from] = instruction.keys.map(({ pubkey }) => pubkey);
    expect(await world.chain.tokens(from as PublicKey)).toBe(0n);
  });
});

describe('stake_unlock', () => {
  it('starts the cooldown of all that is unlocked, again with every unlock', async () => {
    let unstakingTokens = 0n;
    for (const tokens of [1n, 399n, 600n]) {
      await pass(world, 7n);
      unstakingTokens += tokens;
      const unlock = stakeUnlock({ authority: authority(), tokens });
      await expectEffect(world, unlock, 'StakeUnlocked', {
        worker: {
          stakeTokens: STAKE_TOKENS - unstakingTokens,
          unstakingTokens,
          unstakeReadyAt: (await world.chain.now()) + COOLDOWN,
        },
        said: { tokens },
      });
    }
  });

  it('takes the lowest cooldown of any deposit since there was no stake', async () => {
    /** Unlocks a token and returns how long it has to wait. */
    const waitSeconds = async () => {
      await unlockStake(world, 1n);
      return Number((await worker()).unstakeReadyAt - (await world.chain.now()));
    };
    const depositAt = async (unstakeCooldownSeconds: number) => {
      await setTerms(world, { unstakeCooldownSeconds });
      await send(world, deposit(1n));
    };
    const own = SETTINGS.unstakeCooldownSeconds;
    await depositAt(own + 3_600);
    expect(await waitSeconds()).toBe(own);
    await depositAt(own - 3_600);
    await depositAt(own + 3_600);
    expect(await waitSeconds()).toBe(own - 3_600);
    await unlockStake(world, (await worker()).stakeTokens);
    await pass(world, COOLDOWN);
    await send(world, stakeWithdraw({ authority: authority(), destination: world.stakeTokens }));
    await depositAt(own + 3_600);
    expect(await waitSeconds()).toBe(own + 3_600);
  });
});

describe('stake_withdraw', () => {
  it('pays out what was unlocked, to an account of the authority’s choice', async () => {
    const { chain, stakeMint, stranger } = world;
    await unlockStake(world, 400n);
    await pass(world, COOLDOWN);
    const destination = world.token(stakeMint, stranger.publicKey);
    const withdraw = stakeWithdraw({ authority: authority(), destination });
    await expectEffect(world, withdraw, 'StakeWithdrawn', {
      worker: { unstakingTokens: 0n, unstakeReadyAt: 0n },
      said: { destination, tokens: 400n },
    });
    expect(await chain.tokens(destination)).toBe(400n * ONE_TOKEN);
    await expectRefusal(world, 'NothingToClaim', withdraw);
  });
});
