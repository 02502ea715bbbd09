import { createHash } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Keypair, type PublicKey, SystemProgram } from '@solana/web3.js';
import {
  createJobId,
  creditBuy,
  creditOpen,
  jobAcknowledge,
  jobClose,
  jobComplete,
  jobLock,
  jobProve,
  jobRefund,
  jobSettle,
  PROGRAM_ID,
  proofMessage,
  signHashed,
  stakeDeposit,
  workerHost,
  workerRegister,
} from '../../programs/client/index.ts';
import {
  associatedTokenAddress,
  tokenAccountCreate,
  tokenMintTo,
} from '../../programs/client/token/instructions.ts';
import { gatherEvidence } from '../../programs/client/verify/job/gatherEvidence.ts';
import { locateJob } from '../../programs/client/verify/job/locateJob.ts';
import { REFUNDABLE_SECONDS } from '../../testing/ledger/deadlines.ts';
import {
  callThrough,
  deployHostileProgram,
  HOSTILE_PROGRAM_ID,
  HOSTILE_SIGNER,
} from '../../testing/ledger/hostileCaller.ts';
import { addresses, createJobScene, type JobScene } from '../../testing/ledger/jobScene.ts';
import { readClockSeconds } from '../../testing/ledger/ledger.ts';
import { findingsOf } from './findings.ts';

const LAMPORTS = 10e9;
const STAKE_TOKENS = 1_000n;
const BASE_UNITS = 10_000_000_000n;
const OUTPUT_HASH = createHash('sha256').update('the whole answer').digest();

const wallet = HOSTILE_SIGNER;
const creditAccount = addresses.creditAccount(wallet);
const worker = addresses.worker(wallet);
const proofKey = Keypair.generate();
let scene: JobScene;
let payout: PublicKey;
let job: PublicKey;
/** Completed in one call of the other program. */
let together: readonly [PublicKey, PublicKey];

/** As a multisig's vault does it: wallet, controller, rent payer and worker are a program's address. */
beforeAll(async () => {
  scene = await createJobScene();
  const { ledger, service } = scene;
  await deployHostileProgram(ledger);
  await ledger.fundLamports(wallet, LAMPORTS);
  payout = await mint(service.mints.credit);
  const stakes = await mint(service.mints.stake);
  const modelId = service.model.id;
  const payer = service.operator.authority.publicKey;
  await scene.send(
    [
      creditOpen({ payer, wallet }),
      callThrough(
        creditBuy({ buyer: wallet, buyerTokenAccount: payout, wallet, credits: 1_000n }),
        workerRegister({
          authority: wallet,
          payout,
          proofKey: proofKey.publicKey,
          endpoint: 'http://127.0.0.1:9',
        }),
        stakeDeposit({
          depositor: wallet,
          depositorTokenAccount: stakes,
          worker,
          tokens: STAKE_TOKENS,
        }),
        workerHost({ authority: wallet, modelId }),
      ),
    ],
    [],
  );
  job = await lock();
  await scene.send(
    [
      callThrough(jobAcknowledge({ signer: wallet, job, worker, attempt: 1 })),
      jobProve(proofOf(job)),
      callThrough(
        jobSettle({
          signer: wallet,
          job,
          creditAccount,
          worker,
          workerPayout: payout,
          deliveredHash: OUTPUT_HASH,
          countedTokens: 600,
        }),
      ),
    ],
    [],
  );
  together = [await lock(), await lock()];
  const [first, second] = together;
  // Each call also names the other job, which means nothing to the program.
  await scene.send([callThrough(complete(first, 400, second), complete(second, 300, first))], []);
});

async function lock(): Promise<PublicKey> {
  const nowMs = Number(await readClockSeconds(scene.ledger.connection)) * 1_000;
  const { address, bytes } = createJobId({ nowMs, creditAccount });
  const terms = { modelId: scene.service.model.id, tokenLimit: 2_000, maxCredits: 1_000n };
  const by = { signer: wallet, payer: wallet, wallet, jobId: bytes };
  await scene.send([callThrough(jobLock({ ...by, ...terms }))], []);
  return address;
}

function proofOf(proven: PublicKey) {
  const proof = {
    ...{ job: proven, worker, attempt: 1, outputHash: OUTPUT_HASH, promptTokens: 10 },
    ...{ completionTokens: 600, requestCommitment: OUTPUT_HASH },
  };
  const message = proofMessage({ programId: PROGRAM_ID, ...proof });
  return { ...proof, signature: signHashed(message, proofKey) };
}

function complete(completed: PublicKey, countedTokens: number, other: PublicKey) {
  const by = { signer: wallet, creditAccount, workerPayout: payout, countedTokens };
  const instruction = jobComplete({ ...by, ...proofOf(completed) });
  instruction.keys.push({ pubkey: other, isSigner: false, isWritable: false });
  return instruction;
}

afterAll(() => scene?.ledger.close());

async function mint(token: PublicKey): Promise<PublicKey> {
  const payer = scene.service.operator.authority.publicKey;
  const account = associatedTokenAddress(token, wallet);
  await scene.send(
    [
      tokenAccountCreate({ payer, owner: wallet, mint: token }),
      tokenMintTo({ mint: token, account, authority: payer, baseUnits: BASE_UNITS }),
    ],
    [],
  );
  return account;
}

const gather = (of = job) =>
  gatherEvidence({ connection: scene.ledger.connection, addresses, job: of });

type Change = (data: Uint8Array, index: number) => Uint8Array;

/** What is found where the calls below a transaction's instructions had other data. */
async function findingsWith(of: PublicKey, change: Change) {
  const evidence = await gather(of);
  const transactions = evidence.transactions.map((transaction) => ({
    ...transaction,
    instructions: transaction.instructions.map((instruction) => {
      const isOurs = (data: Uint8Array) => data.length === COMPLETE_BYTES;
      const places = instruction.inner.flatMap(({ data }, at) => (isOurs(data) ? [at] : []));
      const inner = instruction.inner.map((call, at) =>
        isOurs(call.data) ? { ...call, data: change(call.data, places.indexOf(at)) } : call,
      );
      return { ...instruction, inner };
    }),
  }));
  return findingsOf({ ...evidence, transactions });
}

/** Of `job_complete`: its discriminator, and its arguments. */
const COMPLETE_BYTES = 8 + 1 + 32 + 3 * 4 + 32 + 64;
const [COUNTED_AT, SIGNATURE_AT] = [8 + 1 + 32 + 2 * 4, COMPLETE_BYTES - 64];

describe('a job with program addresses as parties', () => {
  it('passes, although such an address cannot sign a transaction', async () => {
    expect(findingsOf(await gather())).toMatchObject({ result: 'holds', fails: [], unchecked: [] });
  });

  it('fails when no called program could have signed', async () => {
    const evidence = await gather();
    const transactions = evidence.transactions.map((transaction) => ({
      ...transaction,
      instructions: transaction.instructions.map((instruction) => ({
        ...instruction,
        programId: instruction.programId.replace(HOSTILE_PROGRAM_ID.toBase58(), `${PROGRAM_ID}`),
      })),
    }));
    expect(findingsOf({ ...evidence, transactions }).fails).toEqual(['settlement.signer']);
  });

  it('passes when another program completed it, with another job in one call', async () => {
    for (const completed of together) {
      const found = findingsOf(await gather(completed));
      expect(found).toMatchObject({ result: 'holds', fails: [], unchecked: [] });
    }
    const [first, second] = together;
    const detail = async (of: PublicKey) =>
      findingsOf(await gather(of)).detail('settlement.charge');
    expect(await detail(first)).toContain('(600 proven, 400 counted)');
    expect(await detail(second)).toContain('(600 proven, 300 counted)');
  });

  it('is not accused of a repeated proof, whose signature is never looked at', async () => {
    const proven = await lock();
    const proof = proofOf(proven);
    const repeated = { ...proof, signature: new Uint8Array(64) };
    await scene.send(
      [
        callThrough(jobAcknowledge({ signer: wallet, job: proven, worker, attempt: 1 })),
        callThrough(jobProve(proof), jobProve(repeated)),
      ],
      [],
    );
    const { fails, detail } = findingsOf(await gather(proven));
    expect(fails).toEqual([]);
    expect(detail('proof.signature')).toContain('signed the sha256');
  });

  it('is found by the transaction of a batch where it is its wallet’s only one', async () => {
    const { connection } = scene.ledger;
    const [another] = await scene.lock({ count: 1, tokenLimit: 2_000 });
    const own = await lock();
    await scene.wait(REFUNDABLE_SECONDS);
    const theirs = { job: another?.address as PublicKey, ...scene.service };
    await scene.send([jobRefund({ job: own, creditAccount }), jobRefund(theirs)], []);
    const [refund] = await connection.getSignaturesForAddress(own, { limit: 1 }, 'confirmed');
    const locate = (owner?: PublicKey) =>
      locateJob({ connection, addresses, named: refund?.signature ?? '', wallet: owner });
    expect(await locate(wallet)).toEqual(own);
    expect(await locate(scene.service.wallet.publicKey)).toEqual(theirs.job);
    await expect(locate()).rejects.toThrow('several jobs');
    await expect(locate(Keypair.generate().publicKey)).rejects.toThrow('several jobs');
  });

  it('is judged by the call of its own, of several in one', async () => {
    const flipAt =
      (at: number, place: number): Change =>
      (data, index) =>
        index === place ? data.with(at, (data[at] ?? 0) ^ 1) : data;
    for (const [place, own] of together.entries()) {
      const other = 1 - place;
      const forged = async (at: number, of: number) =>
        (await findingsWith(own, flipAt(at, of))).fails;
      expect(await forged(SIGNATURE_AT, place)).toEqual(['proof.signature']);
      expect(await forged(COUNTED_AT, place)).toEqual(['settlement.signer']);
      expect(await forged(SIGNATURE_AT, other)).toEqual([]);
      expect(await forged(COUNTED_AT, other)).toEqual([]);
    }
  });

  it('is not accused of keeping rent that its payer spent', async () => {
    await scene.wait(200);
    const sweep = SystemProgram.transfer({
      fromPubkey: wallet,
      toPubkey: scene.service.operator.authority.publicKey,
      lamports: LAMPORTS / 2,
    });
    await scene.send([callThrough(jobClose({ job, rentPayer: wallet }), sweep)], []);
    expect(findingsOf(await gather())).toMatchObject({
      result: 'not_checkable',
      fails: [],
      unchecked: ['account.closed'],
    });
  });
});
