import { beforeAll, describe, expect, it } from '@jest/globals';
import type { PublicKey, TransactionInstruction } from '@solana/web3.js';
import { decodeAccount } from '../../programs/client/index.ts';
import type { TestWallet, TestWorker } from '../../testing/kit/cast.ts';
import { createRandom } from '../../testing/random.ts';
import { expectConserved } from './support/conservation.ts';
import { pass } from './support/expectations.ts';
import { acknowledge, complete, fail, lockJob, prove, settle } from './support/jobs.ts';
import { addWallet, addWorker } from './support/newcomers.ts';
import { freeze, suspend, unhost, updateGateway } from './support/parties.ts';
import { undone } from './support/undone.ts';
import { addresses, createWorld, hashOf, type World } from './support/world.ts';

const CASES = 360;

/** What a case may have, and how it is refused for that alone. */
const REFUSALS = {
  ...{ failed: 'WrongJobStatus', late: 'DeadlinePassed', stopped: 'GatewayStopped' },
  ...{ suspended: 'WorkerNotEligible', unhosted: 'WorkerDoesNotHostModel' },
  ...{ byStranger: 'Unauthorized', otherKey: 'SignatureInvalid', noAttempt: 'AttemptNotNewer' },
  ...{ uncounted: 'NothingCounted', otherAccount: 'WrongAddress' },
} as const;
type Oddity = keyof typeof REFUSALS;
const ODDITIES = Object.keys(REFUSALS) as Oddity[];

const random = createRandom();
/** The only oddity of this case, or none; undefined where all is left to chance. */
let only: Oddity | 'none' | undefined;
const has = (oddity: Oddity | 'anything', times: number): boolean =>
  only === undefined ? random.below(times) === 0 : only === oddity;
const one = <Item>(...items: readonly [Item, ...Item[]]): Item =>
  items[only === undefined ? random.below(items.length) : 0] ?? items[0];

let world: World;
let workers: readonly [TestWorker, TestWorker];
let otherWallet: TestWallet;
beforeAll(async () => {
  world = await createWorld();
  workers = [world.workers[0], await addWorker(world)];
  otherWallet = await addWallet(world);
});

/** What the addresses hold, the Job without its sequence: three instructions make more steps. */
const holdings = (keys: readonly PublicKey[]) =>
  Promise.all(
    keys.map(async (key) => {
      const account = await world.chain.account(key);
      if (account === null) throw new Error(`${key} is gone`);
      if (!key.equals(keys[0] as PublicKey)) return Buffer.from(account.data).toString('hex');
      return { ...decodeAccount(account.data).data, sequence: 0 };
    }),
  );

/** How the transaction ends: the accounts afterwards, or the name of the refusal. */
const outcomeOf = (
  instructions: TransactionInstruction[],
  keys: readonly PublicKey[],
): Promise<unknown> =>
  undone(world, keys, () =>
    world.chain
      .send(instructions, [world.hotSigner, world.wallet, world.stranger])
      .then(() => holdings(keys))
      .catch((error: Error) => error.message),
  );

/** A job in some status that keeps no proof, of the gateway or of its wallet. */
async function drawJob(signer: World['hotSigner']): Promise<PublicKey> {
  const by = { ...world, hotSigner: signer };
  const job = await lockJob(by, { tokenLimit: 1 + random.below(4_000) });
  const send = (...steps: TransactionInstruction[]) => world.chain.send(steps, [signer]);
  if (has('anything', 2)) {
    const { address } = one(...workers);
    await send(acknowledge(by, job, { worker: address, attempt: 1 + random.below(3) }));
  }
  if (has('failed', 8)) await send(fail(by, job));
  if (has('anything', 8)) await send(complete(by, job, { attempt: 9 })).catch(() => undefined);
  return job;
}

/** All that may have changed about the parties since the lock. */
async function drawChanges({ address, authority, payout }: TestWorker): Promise<void> {
  const parties = { ...world, worker: address, workerAuthority: authority, payout };
  if (has('stopped', 8)) await updateGateway(world, { stopped: true });
  if (has('suspended', 8)) await suspend(parties, true);
  if (has('unhosted', 8)) await unhost(parties);
  for (const token of [payout, addresses.vault, addresses.treasuryVault]) {
    if (has('anything', 6)) await freeze(parties, token);
  }
}

/** The same job given, proven and settled by one instruction, and by three. */
function drawWays(job: PublicKey, { address, payout, proofKey }: TestWorker, signer: PublicKey) {
  const parties = { ...world, worker: address, payout, proofKey };
  const by = has('byStranger', 8) ? world.stranger.publicKey : signer;
  const actor = { signer: by, gateway: world.gateway };
  const proven = {
    attempt: has('noAttempt', 8) ? 0 : one(1, 1, 2, 3, 4, 255),
    outputHash: hashOf(`answer ${random.below(9)}`),
    promptTokens: random.below(4_000),
    completionTokens: random.below(4_000),
    statement: hashOf(`request ${random.below(9)}`),
    ...(has('otherKey', 8) && { key: world.stranger }),
  };
  const settled = {
    countedTokens: has('uncounted', 8) ? 0 : 1 + random.below(4_000),
    ...(has('otherAccount', 8) && { creditAccount: otherWallet.creditAccount }),
    ...(has('anything', 8) && { workerPayout: one(addresses.vault, otherWallet.tokens) }),
  };
  const { attempt, outputHash: deliveredHash } = proven;
  return {
    together: complete(parties, job, { ...actor, ...proven, ...settled }),
    apart: [
      acknowledge(parties, job, { ...actor, attempt }),
      prove(parties, job, proven),
      settle(parties, job, { ...actor, ...settled, deliveredHash }),
    ],
  };
}

describe(`job_complete (seed ${random.seed})`, () => {
  it('does what the three do in one transaction, or refuses as they do', async () => {
    let taken = 0;
    for (let count = 0; count < CASES; count += 1) {
      only = ODDITIES[count] ?? (count % 5 === 0 ? 'none' : undefined);
      const signer = one(world.hotSigner, world.hotSigner, world.wallet);
      const job = await drawJob(signer);
      const worker = one(...workers);
      await pass(world, BigInt(has('late', 8) ? 121 : one(0, 0, 0, 0, 7, 119, 120)));
      const { gateway, creditAccount } = world;
      const changing = [gateway, worker.address, worker.payout];
      const vaults = [addresses.vault, addresses.treasuryVault];
      await undone(world, [...changing, ...vaults], async () => {
        await drawChanges(worker);
        const { together, apart } = drawWays(job, worker, signer.publicKey);
        const shared = [addresses.treasury, creditAccount, otherWallet.creditAccount];
        const keys = [job, ...changing, ...vaults, ...shared];
        const outcome = await outcomeOf([together], keys);
        expect({ count, outcome }).toEqual({ count, outcome: await outcomeOf(apart, keys) });
        const expected = only && (only === 'none' ? expect.any(Array) : REFUSALS[only]);
        if (expected) expect({ count, outcome }).toEqual({ count, outcome: expected });
        if (typeof outcome !== 'string') taken += 1;
      });
    }
    expect(taken).toBeGreaterThan(CASES / 10);
    await expectConserved(world, {
      creditAccounts: [world.creditAccount, otherWallet.creditAccount],
      workers: workers.map(({ address }) => address),
    });
  });
});
