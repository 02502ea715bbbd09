import { base58 } from '@scure/base';
import { Keypair } from '@solana/web3.js';
import { toBase58 } from '../../programs/client/keys.ts';
import type { Sender } from '../../programs/client/sender/sender.ts';
import { createRoom } from '../../programs/client/sender/transaction.ts';

/** Position of the job among the accounts of `job_complete`. */
const SETTLED_JOB_INDEX = 3;
/** The length of a signature in base58. */
const SIGNATURE_CHARACTERS = 88;
/** The signature of every transaction without a settlement. */
const SIGNATURE = base58.encode(new Uint8Array(64).fill(1));

/**
 * Confirms every transaction at once. A settlement's signature begins with the job's address, so that
 * the stubbed indexer knows the job; one of several jobs is announced for each of them.
 *
 * @param announce announces a settlement to the stubbed indexer
 */
export function createStubbedSender(announce: (signature: string) => void): Sender {
  const feePayer = Keypair.generate().publicKey;
  return {
    async send({ instructions, lane }) {
      const sent = typeof instructions === 'function' ? instructions(feePayer) : instructions;
      const jobs = sent.flatMap(({ keys }) => keys[SETTLED_JOB_INDEX]?.pubkey ?? []);
      const settled = lane === 'settlements' ? jobs.map((job) => signatureOf(toBase58(job))) : [];
      settled.forEach(announce);
      return { status: 'landed', signature: settled[0] ?? SIGNATURE, slot: 1 };
    },
    room: () => createRoom('legacy', feePayer),
    waitedMs: () => 0,
    close: () => undefined,
  };
}

function signatureOf(job: string): string {
  return `${job}.`.padEnd(SIGNATURE_CHARACTERS, '1');
}

/** The job that a transaction with this signature settled. */
export function settledJob(signature: string): string {
  return signature.slice(0, signature.indexOf('.'));
}
