import type { PublicKey } from '@solana/web3.js';
import {
  createJobId,
  creditBuy,
  creditOpen,
  jobLock,
  PROGRAM_ID,
} from '../../../programs/client/index.ts';
import { associatedTokenAddress } from '../../../programs/client/token/instructions.ts';
import { mintTo } from '../../../stack/operator.ts';
import { complete } from '../../../testing/kit/jobInstructions.ts';
import {
  callThrough,
  deployHostileProgram,
  HOSTILE_PROGRAM_ID,
  HOSTILE_SIGNER,
} from '../../../testing/ledger/hostileCaller.ts';
import { addresses, createJobScene, type JobScene } from '../../../testing/ledger/jobScene.ts';
import { readClockSeconds } from '../../../testing/ledger/ledger.ts';
import { createForgingNode, type Forgery } from '../../auditors/forgeries/node.ts';
import { casesOf, type NodeCases } from './sight.ts';

const BASE_UNITS = 1_000_000n;
const wallet = HOSTILE_SIGNER;

/** A job of a wallet that is a program's address, as a multisig's vault is: its program signs. */
export async function programCases(): Promise<NodeCases> {
  const scene = await createJobScene();
  try {
    const job = await completeByProgram(scene);
    return await casesOf(createForgingNode(scene.ledger.rpcUrl), 'program', [
      { name: 'a controller that is a program’s address', job },
      { name: 'the program that signed for the controller', job, forgery: byAnother },
    ]);
  } finally {
    await scene.ledger.close();
  }
}

async function completeByProgram({ ledger, service, send }: JobScene): Promise<PublicKey> {
  await deployHostileProgram(ledger);
  const { operator, mints, model, worker, proofKey, workerAuthority, hotSigner } = service;
  const buyer = operator.authority.publicKey;
  const purse = mintTo(operator, { mint: mints.credit, owner: buyer, baseUnits: BASE_UNITS });
  const bought = { buyer, buyerTokenAccount: purse.account, wallet, credits: 100n };
  await send([...purse.instructions, creditOpen({ payer: buyer, wallet }), creditBuy(bought)], []);
  const creditAccount = addresses.creditAccount(wallet);
  const nowMs = Number(await readClockSeconds(ledger.connection)) * 1_000;
  const { address: job, bytes: jobId } = createJobId({ nowMs, creditAccount });
  const by = { signer: wallet, gateway: undefined };
  const terms = { modelId: model.id, jobId, tokenLimit: 2_000, maxCredits: 100n };
  const payout = associatedTokenAddress(mints.credit, workerAuthority.publicKey);
  const parties = { gateway: service.gateway, hotSigner, creditAccount, worker, payout, proofKey };
  await send([callThrough(jobLock({ ...by, payer: buyer, wallet, ...terms }))], []);
  await send([callThrough(complete(parties, job, by))], []);
  return job;
}

/** Says that another program made the calls, which cannot sign for that address. */
const byAnother: Forgery = {
  transaction(transaction) {
    const { message } = transaction.transaction;
    message.accountKeys = message.accountKeys.map((key) =>
      key === HOSTILE_PROGRAM_ID.toBase58() ? PROGRAM_ID.toBase58() : key,
    );
    return transaction;
  },
};
