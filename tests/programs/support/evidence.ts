import type { Keypair, PublicKey, TransactionInstruction } from '@solana/web3.js';
import {
  type DisputeOutcome,
  type DisputeResolveInput,
  disputeResolve,
  evidenceArguments,
  PROGRAM_ID,
  proofMessage,
  receiptMessage,
  type SignedMessage,
  signHashed,
} from '../../../programs/client/index.ts';
import { conflictingProofs, REQUEST } from '../../../testing/kit/jobInstructions.ts';
import { jobIn, readJob } from './jobs.ts';
import { passDisputeWindow } from './verdicts.ts';
import { hashOf, type World } from './world.ts';

/** A disputed job at a time in which it can be decided, and all that can be signed about it. */
export interface DisputeCase {
  job: PublicKey;
  /** The proof that is recorded, and one that contradicts it. */
  recorded: SignedMessage;
  other: SignedMessage;
  /** A proof like the recorded one but for these fields. */
  proofWith(changes: Partial<Parameters<typeof proofMessage>[0]>, key?: Keypair): SignedMessage;
  /** A receipt of another text than the recorded one, but for these fields. */
  receiptWith(
    changes?: Partial<Parameters<typeof receiptMessage>[0]>,
    key?: Keypair,
  ): SignedMessage;
  /** @param changes other arguments than those of the evidence */
  verdictOn(
    verdict: DisputeOutcome,
    evidence: readonly SignedMessage[],
    changes?: Partial<DisputeResolveInput>,
  ): TransactionInstruction;
}

export const OTHER_HASH = hashOf('another answer');

export async function openCase(world: World, given?: PublicKey): Promise<DisputeCase> {
  const job = given ?? (await jobIn(world, 'disputed'));
  if (given === undefined) await passDisputeWindow(world);
  const account = await readJob(world, job);
  const { worker, attempt, outputHash, promptTokens, completionTokens } = account;
  const output = { outputHash, promptTokens, completionTokens, statement: REQUEST };
  const about = { programId: PROGRAM_ID, job };
  const signed = (key: Keypair, message: Uint8Array): SignedMessage => ({
    publicKey: key.publicKey,
    message,
    signature: signHashed(message, key),
  });
  const [recorded, other] = conflictingProofs(world, job, account);
  return {
    job,
    recorded,
    other,
    proofWith: (changes, key = world.proofKey) =>
      signed(key, proofMessage({ ...about, worker, attempt, ...output, ...changes })),
    receiptWith: (changes, key = world.hotSigner) =>
      signed(
        key,
        receiptMessage({ ...about, outputHash: OTHER_HASH, statement: REQUEST, ...changes }),
      ),
    verdictOn(verdict, evidence, changes) {
      const { arbiter, creditAccount } = world;
      const named = { arbiter: arbiter.publicKey, job, creditAccount, worker, verdict };
      return disputeResolve({ ...named, ...evidenceArguments(evidence), ...changes });
    },
  };
}
