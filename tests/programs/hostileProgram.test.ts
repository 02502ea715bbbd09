import { beforeEach, describe, expect, it } from '@jest/globals';
import { type PublicKey, SystemProgram, TransactionInstruction } from '@solana/web3.js';
import {
  creditBuy,
  creditOpen,
  jobClose,
  jobFail,
  jobLock,
  PROGRAM_ID,
  spenderSet,
} from '../../programs/client/index.ts';
import { UNLIMITED } from '../../testing/kit/setUp.ts';
import {
  callThrough,
  HOSTILE_PROGRAM_ID,
  HOSTILE_SIGNER,
  hostileProgram,
} from '../../testing/ledger/hostileCaller.ts';
import { expectConserved } from './support/conservation.ts';
import { expectRefusal, pass } from './support/expectations.ts';
import { composeLock, fail, jobIn, readJob, refund } from './support/jobs.ts';
import { withAccount } from './support/tampering.ts';
import { addresses, createWorld, MODEL, send, type World } from './support/world.ts';

/** What the runtime says of a call that claims a right its caller does not have. */
const ESCALATION = 'PrivilegeEscalation';
/** Anchor's tag of an instruction that is an event. */
const EVENT_TAG = Buffer.from('e445a52e51cb9a1d', 'hex');

let world: World;
beforeEach(async () => {
  world = await createWorld();
  world.chain.setAccount(HOSTILE_PROGRAM_ID, hostileProgram());
});

describe('a hostile program', () => {
  it('cannot emit an event, by any signature or claim', async () => {
    const forge = (pubkey: PublicKey, isSigner: boolean, room = 64): TransactionInstruction =>
      callThrough(
        new TransactionInstruction({
          programId: PROGRAM_ID,
          keys: [{ pubkey, isSigner, isWritable: false }],
          data: Buffer.concat([EVENT_TAG, Buffer.alloc(room)]),
        }),
      );
    const { eventAuthority } = addresses;
    await expectRefusal(world, 'EventAuthorityRequired', forge(eventAuthority, false));
    await expectRefusal(world, 'EventAuthorityRequired', forge(HOSTILE_SIGNER, true));
    await expectRefusal(world, 'EventAuthorityRequired', forge(HOSTILE_SIGNER, true, 0));
    const claim = callThrough(
      new TransactionInstruction({
        programId: PROGRAM_ID,
        keys: [{ pubkey: eventAuthority, isSigner: true, isWritable: false }],
        data: EVENT_TAG,
      }),
    );
    for (const key of claim.keys) key.isSigner = false;
    await expect(send(world, claim)).rejects.toThrow(ESCALATION);
  });

  it('cannot revive a job that it closes', async () => {
    const { chain } = world;
    const { instruction, job } = await composeLock(world);
    await send(world, instruction);
    await pass(world, 121n);
    const close = jobClose({ job, rentPayer: chain.payer.publicKey });
    const revive = SystemProgram.transfer({
      fromPubkey: chain.payer.publicKey,
      toPubkey: job,
      lamports: 10_000_000,
    });
    const attack = [refund(world, job), close, revive];
    await expectRefusal(world, 'JobIdTooOld', callThrough(...attack, instruction));
    await expectRefusal(world, 'WrongAccountOwner', callThrough(...attack, close));
    await send(world, callThrough(...attack));
    const left = await chain.account(job);
    expect(left?.owner).toEqual(SystemProgram.programId);
    expect(left?.data).toHaveLength(0);
    await expectConserved(world);
  });

  it('cannot lock an id again after it failed', async () => {
    const { instruction, job } = await composeLock(world);
    const again = callThrough(instruction, fail(world, job), instruction);
    await expectRefusal(world, 'AlreadyInitialized', again);
    await send(world, callThrough(instruction, fail(world, job)));
    const other = await composeLock(world);
    const failedAgain = callThrough(other.instruction, fail(world, job));
    await expectRefusal(world, 'WrongJobStatus', failedAgain);
    expect(await world.chain.account(other.job)).toBeNull();
    await expectConserved(world);
  });

  it('may be a wallet, with rights over its own credits only', async () => {
    const { chain, creditAccount: foreign } = world;
    chain.fund(HOSTILE_SIGNER);
    const wallet = HOSTILE_SIGNER;
    const creditAccount = addresses.creditAccount(wallet);
    const buyer = world.wallet.publicKey;
    const buy = creditBuy({ buyer, buyerTokenAccount: world.walletTokens, wallet, credits: 8n });
    await send(world, callThrough(creditOpen({ payer: wallet, wallet }), buy));

    const { jobId, job } = await composeLock({ ...world, creditAccount });
    const lock = jobLock({
      ...{ payer: wallet, signer: wallet, wallet, modelId: MODEL.id },
      ...{ jobId, tokenLimit: 100, maxCredits: 8n },
    });
    const giveUp = (job: PublicKey, creditAccount: PublicKey): TransactionInstruction =>
      jobFail({
        ...{ signer: wallet, job, creditAccount, reason: 'worker_error' },
        ...{ deliveredHash: new Uint8Array(32), countedTokens: 0 },
      });
    await send(world, callThrough(lock, giveUp(job, creditAccount)));
    expect((await readJob(world, job)).controller).toEqual(wallet);
    expect((await world.read('CreditAccount', creditAccount)).availableCredits).toBe(8n);

    const others = await jobIn(world, 'pending');
    await expectRefusal(world, 'Unauthorized', callThrough(giveUp(others, foreign)));
    await expectRefusal(world, 'WrongAddress', callThrough(giveUp(job, foreign)));
    const usurped = withAccount(
      spenderSet({ wallet, spender: wallet, ...UNLIMITED }),
      'credit_account',
      foreign,
    );
    await expectRefusal(world, 'Unauthorized', callThrough(usurped));
    await expectConserved(world, { creditAccounts: [creditAccount, foreign] });
  });
});
