import { createHash } from 'node:crypto';
import { Keypair, type PublicKey } from '@solana/web3.js';
import {
  PROGRAM_ID,
  type ProvenOutput,
  proofMessage,
  receiptMessage,
  signHashed,
} from '../../../programs/client/index.ts';
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
  lie,
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

const STRANGER = Keypair.generate();
const KEY = set('key', STRANGER.publicKey);

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
  lie('the hash of a receipt', 'repaid', 'dispute.evidence', () =>
    forgeEvent('DisputeResolved', flip('evidence_hash')),
  ),
  {
    what: 'the evidence, with the recorded proof twice, and its hash',
    job: 'upheld',
    forgery: recordedTwice,
    fails: ['history.signatures', 'dispute.evidence'],
  },
  {
    what: 'the evidence, which a stranger signed',
    job: 'upheld',
    forgery: byStranger,
    fails: ['history.signatures', 'dispute.evidence'],
  },
  {
    what: 'the receipt, which a stranger signed',
    job: 'repaid',
    forgery: receiptByStranger,
    fails: ['history.signatures'],
    unchecked: ['dispute.evidence'],
  },
];

/** What the recorded proof says. */
const RECORDED = {
  ...{ outputHash: OUTPUT_HASH, promptTokens: 10, completionTokens: 600 },
  requestCommitment: REQUEST,
};

type Fields = Record<string, never>;

/** Changes the verdict on one job: its instruction, by what its event says, and the event. */
function inVerdict(
  job: PublicKey,
  change: (event: Fields, args: Fields) => Record<string, unknown>,
  changeEvent: (event: Fields) => Record<string, unknown> = () => ({}),
): Forgery {
  return {
    transaction(transaction) {
      const [event] = eventInstructions(transaction, 'DisputeResolved');
      const fields = event && (decodeEvent(event)?.data as Fields);
      if (!fields || !job.equals(fields.job as never)) return transaction;
      forgeArguments(transaction, VERDICT, (args) => change(fields, args));
      return forgeEvent('DisputeResolved', changeEvent).transaction?.(transaction);
    },
  };
}

function messageOf(event: Fields, output: ProvenOutput): Uint8Array {
  const { job, worker } = event as unknown as { job: PublicKey; worker: PublicKey };
  return proofMessage({ programId: PROGRAM_ID, job, worker, attempt: 1, ...output });
}

/** Both signatures are the worker's, and the hash is that of both messages. */
function recordedTwice({ upheld }: ForgedJobs): Forgery {
  return inVerdict(
    upheld,
    (_event, { recorded_signature }) => ({
      ...{ output_hash: [...OUTPUT_HASH], prompt_tokens: 10, completion_tokens: 600 },
      ...{ request_commitment: [...REQUEST], signature: recorded_signature },
    }),
    (event) => {
      const message = messageOf(event, RECORDED);
      const hash = createHash('sha256').update(message).update(message).digest();
      return { evidence_hash: [...hash] };
    },
  );
}

/** A stranger signs both messages, which are those of the evidence. */
function byStranger({ upheld }: ForgedJobs): Forgery {
  return inVerdict(upheld, (event, args) => {
    const other = {
      outputHash: Uint8Array.from(args.output_hash as unknown as number[]),
      promptTokens: Number(args.prompt_tokens),
      completionTokens: Number(args.completion_tokens),
      requestCommitment: Uint8Array.from(args.request_commitment as unknown as number[]),
    };
    const sign = (output: ProvenOutput) => [...signHashed(messageOf(event, output), STRANGER)];
    return {
      key: STRANGER.publicKey,
      recorded_signature: sign(RECORDED),
      signature: sign(other),
    };
  });
}

/** A stranger's receipt is well signed, and nothing says whether he signed for the controller then. */
function receiptByStranger({ repaid }: ForgedJobs): Forgery {
  return inVerdict(repaid, (_event, args) => {
    const outputHash = Uint8Array.from(args.output_hash as unknown as number[]);
    const message = receiptMessage({ programId: PROGRAM_ID, job: repaid, outputHash });
    return { key: STRANGER.publicKey, signature: [...signHashed(message, STRANGER)] };
  });
}
