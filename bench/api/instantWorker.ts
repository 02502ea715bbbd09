import { createHash } from 'node:crypto';
import { createServer, type ServerResponse } from 'node:http';
import { json } from 'node:stream/consumers';
import { setTimeout as delay, setImmediate } from 'node:timers/promises';
import { base58 } from '@scure/base';
import { Keypair, PublicKey } from '@solana/web3.js';
import { createDeltaData } from '../../common/format.ts';
import { PROGRAM_ID } from '../../programs/client/addresses.ts';
import { type Json, requestCommitment } from '../../programs/client/proof.ts';
import { answerDetails, statementOf } from '../../programs/client/statement.ts';
import { createProofSigner } from '../../worker/jobs/proofSigner.ts';
import { costMetrics, machineClockMs, serve, WORDS } from '../servers.ts';

// A worker that begins the same answer at once and checks no lock, since the stubbed ledger has none.
// It is also the bare upstream: without the service, it answers chat completions in the same time,
// with the same work.

const CAPACITY = 1_000;
/**
 * The time between the first word and the others. A real engine has its last word and its proof later
 * than the first. With all at once, the time of the first word could not be measured.
 */
const GENERATION_MS = 2;

const { BENCH_WORKER_ADDRESS: address = '', BENCH_PROOF_KEY: proofKey = '' } = process.env;
const worker = new PublicKey(address);
const keypair = Keypair.fromSecretKey(base58.decode(proofKey));
const head = {
  id: 'chatcmpl-0',
  object: 'chat.completion.chunk',
  created: 0,
  model: 'bench',
} as const;
const chunk = createDeltaData(head);
const [FIRST_WORD = '', ...OTHER_WORDS] = WORDS.map((content) => chunk({ content }));
const FIRST = events([chunk({ role: 'assistant' }), FIRST_WORD]);
const OTHERS = events([...OTHER_WORDS, chunk({}, 'stop')]);
const DETAILS = answerDetails({
  finishReason: 'stop',
  ...{ truncated: null, reasoning: '', toolCalls: [] },
});
const outputHash = createHash('sha256').update(WORDS.join('')).digest();

const NO_SALT = Buffer.alloc(32);
const USAGE = { prompt_tokens: 8, completion_tokens: WORDS.length, total_tokens: 28 };
const message = { role: 'assistant', content: WORDS.join('') };
const choices = [{ index: 0, message, finish_reason: 'stop' }];
const PLAIN = JSON.stringify({ ...head, object: 'chat.completion', choices, usage: USAGE });
const LAST = `${events([JSON.stringify({ ...head, choices: [], usage: USAGE })])}data: [DONE]\n\n`;

const signProof = createProofSigner({ programId: PROGRAM_ID, worker, proofKey: keypair });

/** What this worker reads of a job. */
interface JobBody {
  job_address: string;
  attempt: number;
  request_salt: string;
  token_limit: number;
  chat: Record<string, Json>;
}

/** When the last part of each answer was sent, with its proof, by what was asked. */
const sentAtMs = new Map<string, number>();

const server = createServer(async (request, response) => {
  if (request.url === '/metrics') return void response.end(costMetrics());
  if (request.url === '/proofs') {
    response.end(JSON.stringify([...sentAtMs]));
    return sentAtMs.clear();
  }
  if (request.url === '/health') {
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify({ worker_address: address, slots: CAPACITY, engine: 'none' }));
    return;
  }
  if (request.url === '/v1/chat/completions') {
    return answerUnpaid(response, (await json(request)) as Record<string, Json>);
  }
  const { job_address, attempt, request_salt, token_limit, chat } = (await json(
    request,
  )) as JobBody;
  beginStream(response);
  const salt = Buffer.from(request_salt, 'hex');
  const asked = { salt, request: { ...chat, token_limit } };
  const proof = await generate({ job: new PublicKey(job_address), attempt }, asked);
  noteSent(chat);
  response.end(`${OTHERS}event: proof\ndata: ${JSON.stringify(proof)}\n\n`);
});

function noteSent({ messages }: Record<string, Json>): void {
  const [{ content }] = messages as [{ content: string }];
  sentAtMs.set(content, machineClockMs());
}

async function answerUnpaid(
  response: ServerResponse,
  request: Record<string, Json>,
): Promise<void> {
  const { stream } = request;
  if (stream) beginStream(response);
  await generate({ job: worker, attempt: 1 }, { salt: NO_SALT, request });
  noteSent(request);
  if (!stream) response.setHeader('content-type', 'application/json');
  response.end(stream ? `${OTHERS}${LAST}` : PLAIN);
}

function beginStream(response: ServerResponse): void {
  response.setHeader('content-type', 'text/event-stream');
  response.write(FIRST);
}

/** Waits until the other words are due, and signs their proof in that time. */
async function generate(
  job: { job: PublicKey; attempt: number },
  { salt, request }: { salt: Uint8Array; request: Json },
) {
  const others = delay(GENERATION_MS);
  // Written data is sent at the end of this turn, and must not wait for the signature.
  await setImmediate();
  const counts = { promptTokens: 8, completionTokens: WORDS.length };
  const statement = statementOf({
    requestCommitment: requestCommitment(salt, request),
    answerDetails: DETAILS,
  });
  const proof = signProof({ ...job, outputHash, ...counts, statement });
  await others;
  return proof;
}

function events(chunks: readonly string[]): string {
  return chunks.map((event) => `data: ${event}\n\n`).join('');
}

await serve(server, '');
