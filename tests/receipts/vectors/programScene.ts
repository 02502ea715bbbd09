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
} from '../../../programs/client/index.ts';
import { mintTo } from '../../../stack/operator.ts';
import { REQUEST } from '../../../testing/kit/jobInstructions.ts';
import {
  callThrough,
  deployHostileProgram,
  HOSTILE_SIGNER,
} from '../../../testing/ledger/hostileCaller.ts';
import { addresses, type JobScene } from '../../../testing/ledger/jobScene.ts';
import { readClockSeconds } from '../../../testing/ledger/ledger.ts';

const LAMPORTS = 10e9;
const BASE_UNITS = 10_000_000_000n;
/** Any hash will do. */
const OUTPUT_HASH = REQUEST;

const wallet = HOSTILE_SIGNER;
const creditAccount = addresses.creditAccount(wallet);
const worker = addresses.worker(wallet);
const proofKey = Keypair.generate();

/**
 * Jobs as a multisig's vault has them: wallet, controller, rent payer and worker are the address of a
 * program, which signs for it.
 */
export async function runProgramJobs(scene: JobScene) {
  await deployHostileProgram(scene.ledger);
  const payout = await openParties(scene);
  const lock = () => lockJob(scene);
  const by = { signer: wallet, creditAccount, worker, workerPayout: payout };
  const acknowledge = (job: PublicKey) =>
    callThrough(jobAcknowledge({ signer: wallet, job, worker, attempt: 1 }));
  const settle = async (job: PublicKey) => {
    const settlement = { ...by, job, deliveredHash: OUTPUT_HASH, countedTokens: 600 };
    await scene.send(
      [acknowledge(job), jobProve(proofOf(job)), callThrough(jobSettle(settlement))],
      [],
    );
  };
  /** Each call also names another job, which means nothing to the program. */
  const complete = (job: PublicKey, countedTokens: number, other: PublicKey) => {
    const instruction = jobComplete({ ...by, countedTokens, ...proofOf(job) });
    instruction.keys.push({ pubkey: other, isSigner: false, isWritable: false });
    return instruction;
  };
  const settled = await lock();
  await settle(settled);
  const [first, second] = [await lock(), await lock()];
  await scene.send([callThrough(complete(first, 400, second), complete(second, 300, first))], []);
  const swept = await lock();
  await settle(swept);
  const refunded = await lock();
  const [another] = await scene.lock({ count: 1, tokenLimit: 2_000 });
  await scene.wait(200);
  const theirs = { job: another?.address as PublicKey, ...scene.service };
  await scene.send([jobRefund({ job: refunded, creditAccount }), jobRefund(theirs)], []);
  const sweep = SystemProgram.transfer({
    fromPubkey: wallet,
    toPubkey: scene.service.operator.authority.publicKey,
    lamports: LAMPORTS / 2,
  });
  await scene.send([callThrough(jobClose({ job: swept, rentPayer: wallet }), sweep)], []);
  const repeated = await lock();
  // The program takes a repeat without a look at its signature.
  const again = { ...proofOf(repeated), signature: new Uint8Array(64) };
  await scene.send(
    [acknowledge(repeated), callThrough(jobProve(proofOf(repeated)), jobProve(again))],
    [],
  );
  return { settled, first, second, swept, refunded, another: theirs.job, repeated };
}

/** @returns the account that a worker is paid to */
async function openParties({ ledger, service, send }: JobScene): Promise<PublicKey> {
  const { operator, mints, model } = service;
  await ledger.fundLamports(wallet, LAMPORTS);
  const purse = (mint: PublicKey) =>
    mintTo(operator, { mint, owner: wallet, baseUnits: BASE_UNITS });
  const [credits, stakes] = [purse(mints.credit), purse(mints.stake)];
  const payout = credits.account;
  const bought = { buyer: wallet, buyerTokenAccount: payout, wallet, credits: 1_000n };
  const identity = { payout, proofKey: proofKey.publicKey, endpoint: 'http://127.0.0.1:9' };
  const stake = {
    depositor: wallet,
    depositorTokenAccount: stakes.account,
    worker,
    tokens: 1_000n,
  };
  await send([...credits.instructions, ...stakes.instructions], []);
  await send(
    [
      creditOpen({ payer: operator.authority.publicKey, wallet }),
      callThrough(
        creditBuy(bought),
        workerRegister({ authority: wallet, ...identity }),
        stakeDeposit(stake),
        workerHost({ authority: wallet, modelId: model.id }),
      ),
    ],
    [],
  );
  return payout;
}

async function lockJob({ ledger, service, send }: JobScene): Promise<PublicKey> {
  const nowMs = Number(await readClockSeconds(ledger.connection)) * 1_000;
  const { address, bytes } = createJobId({ nowMs, creditAccount });
  const terms = { modelId: service.model.id, tokenLimit: 2_000, maxCredits: 1_000n };
  const by = { signer: wallet, payer: wallet, wallet, jobId: bytes };
  await send([callThrough(jobLock({ ...by, ...terms }))], []);
  return address;
}

function proofOf(job: PublicKey) {
  const proof = {
    ...{ job, worker, attempt: 1, outputHash: OUTPUT_HASH, promptTokens: 10 },
    ...{ completionTokens: 600, statement: REQUEST },
  };
  const message = proofMessage({ programId: PROGRAM_ID, ...proof });
  return { ...proof, signature: signHashed(message, proofKey) };
}
