import type { Keypair } from '@solana/web3.js';
import {
  fetchJob,
  formatJobId,
  formatReceipt,
  PROGRAM_ID,
  receiptMessage,
  requestCommitment,
  signHashed,
} from '../../../programs/client/index.ts';
import { bytesToHex, utf8 } from '../../../programs/client/platform/bytes.ts';
import { sha256 } from '../../../programs/client/platform/node.ts';
import type { Json } from '../../../programs/client/proof.ts';
import {
  type AnswerDetails,
  answerDetails,
  statementOf,
  type ToolCall,
} from '../../../programs/client/statement.ts';
import type { Answering, JobScene, LockedJob } from '../../../testing/ledger/jobScene.ts';
import type { Random } from '../../../testing/random.ts';
import { TEXT_ALONE } from '../../../testing/textAlone.ts';
import { drawRequest, drawText, drawWords } from './draw.ts';
import type { Body } from './requestForms.ts';

/** A job's question and answer. */
export interface Dialogue extends LockedJob {
  readonly text: string;
  readonly details: AnswerDetails;
  /** The body that was sent. */
  readonly body: Body;
  readonly salt: Uint8Array;
  /** To the request that the worker was given. */
  readonly commitment: Uint8Array;
  readonly tokenLimit: number;
  readonly answering: Required<Answering>;
}

/** The same with what its client was sent as evidence. */
export interface AnsweredJob extends Dialogue {
  readonly svc: Readonly<Record<string, Json>>;
  readonly lockedCredits: number;
}

interface Drawn {
  readonly locked: LockedJob;
  /** Where it stands among the jobs of its lock: by that it has reasoning, or calls of tools. */
  readonly at: number;
  readonly model: string;
  readonly tokenLimit: number;
  /** What a worker is given, too, or in the place of what is drawn. */
  readonly later?: Body;
}

/** Draws a question and its answer, for a job that is locked and not completed yet. */
export function drawDialogue(
  random: Random,
  { locked, at, model, tokenLimit, later = {} }: Drawn,
): Dialogue {
  const { token_limit: _, ...fields } = drawRequest(random);
  const chat = { ...fields, model, ...later };
  const salt = random.bytes(32);
  const commitment = requestCommitment(salt, { ...chat, token_limit: tokenLimit });
  // White space, line ends and normal forms must be able to differ.
  const details = drawDetails(random, at);
  const text = `${drawWords(random, 12)}\né ${drawText(random, 20)}.`;
  return {
    ...{ ...locked, text, salt, tokenLimit, details, commitment },
    // What only concerns the service is not committed to.
    body: { ...chat, max_tokens: tokenLimit, user: drawWords(random, 2), n: 1 },
    answering: {
      tokens: 2 + random.below(tokenLimit - 2),
      attempt: 1 + random.below(3),
      outputHash: sha256(utf8(text)),
      statement: statementOf({
        requestCommitment: commitment,
        answerDetails: answerDetails(details),
      }),
    },
  };
}

function drawDetails(random: Random, at: number): AnswerDetails {
  const reasoning = at % 2 === 0 ? drawWords(random) : '';
  const toolCalls = at % 3 === 1 ? [drawCall(random), drawCall(random)] : [];
  const finishReason = toolCalls.length > 0 ? 'tool_calls' : 'stop';
  return { ...TEXT_ALONE, finishReason, reasoning, toolCalls };
}

/** A call of a tool with any arguments. */
export function drawCall(random: Random): ToolCall {
  const given = JSON.stringify({ [drawText(random, 5)]: drawText(random, 9) });
  return { id: `call_${random.below(1_000)}`, name: drawWords(random, 1), arguments: given };
}

/** What the API says of the job, once it is settled. */
export async function withStatement(
  { ledger: { connection }, service }: JobScene,
  dialogue: Dialogue,
): Promise<AnsweredJob> {
  const { address, idBytes, salt, answering, details } = dialogue;
  const account = await fetchJob(connection, address);
  const listed = await connection.getSignaturesForAddress(address);
  const credits = Number(account?.chargedCredits);
  const jobId = formatJobId(idBytes);
  return {
    ...dialogue,
    lockedCredits: Number(account?.lockedCredits),
    svc: {
      job_id: jobId,
      worker: service.worker.toBase58(),
      attempt: answering.attempt,
      credits_charged: credits,
      usdc_value: credits / 100,
      output_hash: `sha256:${bytesToHex(answering.outputHash)}`,
      request_salt: bytesToHex(salt),
      request_commitment: bytesToHex(dialogue.commitment),
      answer_details: bytesToHex(answerDetails(details)),
      delivery_receipt: receiptFor(service.hotSigner, dialogue),
      escrow_tx: String(listed.at(-1)?.signature),
      settlement_tx: null,
      verify_url: `https://svc.example/verify/${jobId}#wallet=${service.wallet.publicKey}`,
    },
  };
}

/** That a signer delivered this answer, or one that differs from it in this. */
export function receiptFor(
  signer: Keypair,
  { address: job, answering: { outputHash, statement } }: Dialogue,
  changed: { outputHash?: Uint8Array; statement?: Uint8Array } = {},
): string {
  const message = receiptMessage({
    ...{ programId: PROGRAM_ID, job, outputHash, statement },
    ...changed,
  });
  return formatReceipt(signer.publicKey, signHashed(message, signer));
}
