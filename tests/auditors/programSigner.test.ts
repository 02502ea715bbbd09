import { createHash } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Keypair, type PublicKey, SystemProgram } from '@solana/web3.js';
import {
  createJobId,
  creditBuy,
  creditOpen,
  jobAcknowledge,
  jobClose,
  jobLock,
  jobProve,
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
import { REQUEST } from '../../testing/kit/jobInstructions.ts';
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
let job: PublicKey;

/** As a multisig's vault does it: wallet, controller, rent payer and worker are a program's address. */
beforeAll(async () => {
  scene = await createJobScene();
  const { ledger, service } = scene;
  await deployHostileProgram(ledger);
  await ledger.fundLamports(wallet, LAMPORTS);
  const payout = await mint(service.mints.credit);
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
  const nowMs = Number(await readClockSeconds(ledger.connection)) * 1_000;
  const { address, bytes } = createJobId({ nowMs, creditAccount });
  job = address;
  await scene.send(
    [
      callThrough(
        jobLock({
          signer: wallet,
          payer: wallet,
          wallet,
          modelId,
          jobId: bytes,
          tokenLimit: 2_000,
          maxCredits: 1_000n,
        }),
        jobAcknowledge({ signer: wallet, job, worker, attempt: 1 }),
      ),
    ],
    [],
  );
  const output = { outputHash: OUTPUT_HASH, promptTokens: 10, completionTokens: 600 };
  const proven = { ...output, requestCommitment: REQUEST };
  const message = proofMessage({ programId: PROGRAM_ID, job, worker, attempt: 1, ...proven });
  const signature = signHashed(message, proofKey);
  await scene.send(
    [
      jobProve({ job, worker, ...proven, signature }),
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
});

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

const gather = () => gatherEvidence({ connection: scene.ledger.connection, addresses, job });

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
