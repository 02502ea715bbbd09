import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import {
  stakeUnlock,
  stakeWithdraw,
  workerDeregister,
  workerRegister,
  workerSuspend,
} from '../../programs/client/index.ts';
import { expectConserved } from './support/conservation.ts';
import { expectEvent } from './support/emission.ts';
import { expectRefusal, pass } from './support/expectations.ts';
import { fail, jobIn, settle } from './support/jobs.ts';
import { rolesOf, withAccount } from './support/tampering.ts';
import { decide } from './support/verdicts.ts';
import { createWorld, SETTINGS, STAKE_TOKENS, type World } from './support/world.ts';

const DEREGISTERED = 'deregistered';

let world: World;
beforeEach(async () => {
  world = await createWorld();
});
afterEach(() => expectConserved(world));

const worker = () => world.read('Worker', world.worker);
const deregister = (authority = world.workerAuthority) =>
  withAccount(workerDeregister({ authority: authority.publicKey }), 'worker', world.worker);

describe('worker_deregister', () => {
  it('takes a worker out of service for good, once', async () => {
    const { workerAuthority } = world;
    const before = await worker();
    const left = { worker: world.worker, workerSequence: 4n };
    await expectEvent(world, [deregister()], [workerAuthority], 'WorkerDeregistered', left);
    expect(await worker()).toEqual({ ...before, sequence: 4n, status: DEREGISTERED });
    await expectRefusal(world, 'WrongWorkerStatus', deregister(), [workerAuthority]);
  });

  it('keeps the account, so that no sequence restarts', async () => {
    const { chain, workerAuthority, payout, proofKey } = world;
    await chain.send([deregister()], [workerAuthority]);
    const again = workerRegister({
      ...{ authority: workerAuthority.publicKey, payout, proofKey: proofKey.publicKey },
      endpoint: 'https://a.example',
    });
    await expectRefusal(world, 'AlreadyInitialized', again, [workerAuthority]);
  });

  it('blocks no job from its end: only payment and verdict use the worker', async () => {
    const ends = ['job_fail', 'job_refund', 'job_dispute', 'dispute_expire', 'job_close'];
    const named = ends.flatMap((name) => rolesOf(name).map((role) => role.name));
    expect(named).not.toContain('worker');
    const { chain, workerAuthority, hotSigner, payout } = world;
    const [failing, paid] = [await jobIn(world, 'processing'), await jobIn(world, 'settling')];
    const disputed = await jobIn(world, 'disputed');
    await chain.send([deregister()], [workerAuthority]);
    await chain.send([fail(world, failing), settle(world, paid)], [hotSigner]);
    expect(await chain.tokens(payout)).toBe(136_000n);
    await decide(world, disputed, 'upheld_worker');
    expect((await worker()).stakeTokens).toBe(STAKE_TOKENS - 500n);
  });

  it('lets the stake be withdrawn after its cooldown', async () => {
    const { chain, workerAuthority, stakeTokens } = world;
    const by = { authority: workerAuthority.publicKey };
    const before = await chain.tokens(stakeTokens);
    const unlock = stakeUnlock({ ...by, tokens: STAKE_TOKENS });
    await chain.send([deregister(), unlock], [workerAuthority]);
    await pass(world, BigInt(SETTINGS.unstakeCooldownSeconds));
    await chain.send([stakeWithdraw({ ...by, destination: stakeTokens })], [workerAuthority]);
    expect(await chain.tokens(stakeTokens)).toBe(before + STAKE_TOKENS * 1_000_000_000n);
  });

  it('is allowed for a suspended worker', async () => {
    const { chain, arbiter, workerAuthority } = world;
    const suspension = { arbiter: arbiter.publicKey, worker: world.worker, suspended: true };
    await chain.send([workerSuspend(suspension)], [arbiter]);
    await chain.send([deregister()], [workerAuthority]);
    expect((await worker()).status).toBe(DEREGISTERED);
  });

  it('requires the signature of the worker’s authority', async () => {
    for (const signer of [world.arbiter, world.authority, world.stranger, world.proofKey]) {
      await expectRefusal(world, 'Unauthorized', deregister(signer), [signer]);
    }
  });
});
