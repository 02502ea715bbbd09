import { base58 } from '@scure/base';
import { Keypair } from '@solana/web3.js';
import { toBase58 } from '../../programs/client/keys.ts';
import type { Sender } from '../../programs/client/sender/sender.ts';
import { createRoom } from '../../programs/client/sender/transaction.ts';

/** Position of the job among the accounts of `job_complete`. */
const JOB_INDEX = 3;
/** Of every transaction. */
const SIGNATURE = base58.encode(new Uint8Array(64).fill(1));

/**
 * Confirms every transaction at once.
 *
 * @param announce announces a settled job to the stubbed indexer
 */
export function createStubbedSender(announce: (job: string) => void): Sender {
  const feePayer = Keypair.generate().publicKey;
  return {
    async send({ instructions, lane }) {
      const sent = typeof instructions === 'function' ? instructions(feePayer) : instructions;
      const settled = lane === 'settlements' ? sent : [];
      for (const { keys } of settled) {
        const job = keys[JOB_INDEX]?.pubkey;
        if (job) announce(toBase58(job));
      }
      return { status: 'landed', signature: SIGNATURE, slot: 1 };
    },
    room: () => createRoom('legacy', feePayer),
    waitedMs: () => 0,
    close: () => undefined,
  };
}
