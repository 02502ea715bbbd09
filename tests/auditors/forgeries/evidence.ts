import { createHash } from 'node:crypto';
import { Keypair, type PublicKey } from '@solana/web3.js';
import { PROGRAM_ID, proofMessage } from '../../../programs/client/index.ts';
import { REQUEST } from '../../../testing/kit/jobInstructions.ts';
import { OUTPUT } from '../../../testing/ledger/jobScene.ts';
import type { ForgedJobs } from '../forgedScene.ts';
import {
  decodeEvent,
  eventInstructions,
  type ForgeryCase,
  flip,
  forgeArguments,
  forgeEvent,
  inTransactionOf,
  set,
} from './forge.ts';
import type { Forgery } from './node.ts';

const OUTPUT_HASH = createHash('sha256').update(OUTPUT).digest();

/** The verdict is alone in its transaction. */
const VERDICT = 0;

/** A lie about what the arbiter brought, in the words that he signed. */
const inArguments = (
  what: string,
  job: 'upheld' | 'repaid',
  change: Parameters<typeof forgeArguments>[2],
): ForgeryCase => ({
  what: `${what} of the evidence against the ${job === 'upheld' ? 'worker' : 'gateway'}`,
  job,
  forgery: () =>
    inTransactionOf('DisputeResolved', (transaction) =>
      forgeArguments(transaction, VERDICT, change),
    ),
  fails: ['history.signatures', 'dispute.evidence'],
});

const KEY = set('key', Keypair.generate().publicKey);

/** Lies about what a verdict rests on. */
export const EVIDENCE_FORGERIES: readonly ForgeryCase[] = [
  inArguments('the key', 'upheld', KEY),
  inArguments('the recorded signature', 'upheld', flip('recorded_signature')),
  inArguments('the recorded commitment', 'upheld', flip('recorded_request_commitment')),
  inArguments('the other hash', 'upheld', flip('output_hash')),
  inArguments('the other prompt tokens', 'upheld', set('prompt_tokens', 7)),
  inArguments('the other completion tokens', 'upheld', set('completion_tokens', 7)),
  inArguments('the other commitment', 'upheld', flip('request_commitment')),
  inArguments('the other signature', 'upheld', flip('signature')),
  inArguments('the verdict', 'upheld', set('verdict', { UpheldGateway: {} })),
  inArguments('the key', 'repaid', KEY),
  inArguments('the hash', 'repaid', flip('output_hash')),
  inArguments('the signature', 'repaid', flip('signature')),
  inArguments('the verdict', 'repaid', set('verdict', { Rejected: {} })),
  {
    what: 'the hash of a receipt',
    job: 'repaid',
    forgery: () => forgeEvent('DisputeResolved', flip('evidence_hash')),
    fails: ['dispute.evidence'],
  },
  {
    what: 'the evidence, with the recorded proof twice, and its hash',
    job: 'upheld',
    forgery: recordedTwice,
    fails: ['history.signatures', 'dispute.evidence'],
  },
];

/** Both signatures are the worker's, and the hash is that of both messages. */
function recordedTwice(jobs: ForgedJobs): Forgery {
  const message = (worker: PublicKey) =>
    proofMessage({
      ...{ programId: PROGRAM_ID, job: jobs.upheld, worker, attempt: 1 },
      ...{ outputHash: OUTPUT_HASH, promptTokens: 10, completionTokens: 600 },
      requestCommitment: REQUEST,
    });
  return {
    transaction(transaction) {
      const [event] = eventInstructions(transaction, 'DisputeResolved');
      const fields = event && (decodeEvent(event)?.data as Record<string, never>);
      if (!fields || !jobs.upheld.equals(fields.job as never)) return transaction;
      forgeArguments(transaction, VERDICT, ({ recorded_signature }) => ({
        ...{ output_hash: [...OUTPUT_HASH], prompt_tokens: 10, completion_tokens: 600 },
        ...{ request_commitment: [...REQUEST], signature: recorded_signature },
      }));
      const bytes = message(fields.worker as unknown as PublicKey);
      const hash = createHash('sha256').update(bytes).update(bytes).digest();
      return forgeEvent('DisputeResolved', set('evidence_hash', [...hash])).transaction?.(
        transaction,
      );
    },
  };
}
