import { hash } from 'node:crypto';
import type { PublicKey } from '@solana/web3.js';
import type { Dispatcher } from 'undici';
import { assertUrlAllowed, requestWithin } from '../../common/net/addressGuard.ts';
import { type FinishReason, type StopReason, TOOL_CALLS_MAX } from '../../common/workerProtocol.ts';
import { publicKeyOf, toBase58 } from '../../programs/client/keys.ts';
import {
  type Json,
  type KeyHolder,
  requestCommitment,
  signBy,
  workerRequestMessage,
} from '../../programs/client/proof.ts';
import type { ToolCall } from '../../programs/client/statement.ts';
import {
  addToCalls,
  type CallPiece,
  headerOf,
  readEvents,
  readRefusal,
  type WorkerEvent,
  WorkerFailedError,
} from './events.ts';
import { BUILTIN_ENGINE } from './health.ts';

/** One attempt at a job, as it is put to one worker. */
export interface WorkerTask {
  endpoint: string;
  workerAddress: string;
  jobId: string;
  jobAddress: PublicKey;
  attempt: number;
  tokenLimit: number;
  /** The job's, for each of its attempts. */
  requestSalt: Uint8Array;
  chat: WorkerChat;
}

/** @param job that is locked, or is being locked */
export function taskOf(
  job: { id: string; address: PublicKey; tokenLimit: number; requestSalt: Uint8Array },
  to: { worker: { endpoint: string; address: string }; attempt: number; chat: WorkerChat },
): WorkerTask {
  const { id: jobId, address: jobAddress, tokenLimit, requestSalt } = job;
  const { worker, attempt, chat } = to;
  const { endpoint, address: workerAddress } = worker;
  return { endpoint, workerAddress, jobId, jobAddress, attempt, tokenLimit, requestSalt, chat };
}

/** The chat-completions fields that matter to an engine, all with a canonical form. */
export type WorkerChat = Readonly<Record<string, Json | undefined>>;

/** The half of a proof's statement that the request of this task gives. */
export function commitmentTo({ requestSalt, chat, tokenLimit }: WorkerTask): Uint8Array {
  return requestCommitment(requestSalt, { ...chat, token_limit: tokenLimit });
}

/** The names that a worker's answer may call, and whether it has to. */
interface Offer {
  names: ReadonlySet<string>;
  isForced: boolean;
}

/** @param chat as `chatForWorker` makes it */
function offerOf({ tools, tool_choice: choice }: WorkerChat): Offer {
  const { function: chosen } = (choice ?? {}) as { function?: { name: string } };
  if (chosen) return { names: new Set([chosen.name]), isForced: true };
  const offered = (choice === 'none' ? [] : (tools ?? [])) as { function: { name: string } }[];
  const names = new Set(offered.map((tool) => tool.function.name));
  return { names, isForced: choice === 'required' };
}

/** The calls of an answer while it is written, held against what its request offers. */
export function createOfferedCalls(chat: WorkerChat) {
  const { names, isForced } = offerOf(chat);
  const calls: ToolCall[] = [];
  let characters = 0;
  return {
    calls: calls as readonly ToolCall[],
    /** Of all names and arguments, in UTF-16 code units. */
    characters: (): number => characters,
    /** Takes the next piece. @returns what is wrong with it; undefined where nothing is */
    take(piece: CallPiece): string | undefined {
      const { index, id, name, text } = piece;
      if (index > calls.length) return 'a call before its turn';
      if (index >= TOOL_CALLS_MAX) return 'too many calls';
      const isFirst = index === calls.length;
      if (isFirst !== Boolean(id) || isFirst !== Boolean(name)) return 'a call named amiss';
      if (name && !names.has(name)) return 'a call of no offered tool';
      characters += (name?.length ?? 0) + text.length;
      addToCalls(calls, piece);
      return undefined;
    },
    /** What is wrong with how the answer ends; undefined where nothing is. */
    faultOfEnd(reason: FinishReason): string | undefined {
      const isWhole = reason === 'stop' || reason === 'tool_calls';
      if (isWhole && (reason === 'tool_calls') !== calls.length > 0) return 'another finish reason';
      return isWhole && isForced && calls.length === 0 ? 'no call' : undefined;
    },
  };
}

/** A stop is answered at once; the last deltas and the proof come on the open stream. */
const STOP_TIMEOUT_MS = 5_000;
/** How long a body is read to its end, so that its connection can be used again. */
const END_TIMEOUT_MS = 1_000;

interface ClientOptions {
  signer: KeyHolder;
  programId: PublicKey;
  dispatcher: Dispatcher;
  allowLoopback: boolean;
  allowBuiltin: boolean;
  nowMs: () => number;
}

export type WorkerClient = ReturnType<typeof createWorkerClient>;

/**
 * Speaks the worker protocol (docs/worker-protocol.md). The hot signer signs requests: the worker
 * finds its key by the job's controller on the ledger.
 */
export function createWorkerClient(options: ClientOptions) {
  return {
    /**
     * Puts the job to the worker, at once, and yields what it answers, up to its proof: what arrives
     * together is yielded together.
     * @throws WorkerFailedError when it refuses, breaks off, or says what the protocol does not know
     */
    submit: (task: WorkerTask, signal: AbortSignal): AsyncGenerator<readonly WorkerEvent[]> =>
      failingAsWorker(readAnswer(postJob(options, task, signal), options.allowBuiltin)),
    /** Asks the worker to stop, send what it has and prove that. */
    async stop(task: WorkerTask, reason: StopReason): Promise<void> {
      const { attempt } = task;
      const signal = AbortSignal.timeout(STOP_TIMEOUT_MS);
      const path = `/jobs/${toBase58(task.jobAddress)}/stop`;
      try {
        const response = await post(options, task, {
          kind: 'stop',
          path,
          content: { attempt, reason },
          signal,
        });
        await leaveOpen(response.body);
        if (!isOk(response)) throw new WorkerFailedError(`stop_${response.statusCode}`);
      } catch (error) {
        if (error instanceof WorkerFailedError) throw error;
        throw new WorkerFailedError('stop_failed', { cause: error });
      }
    },
  };
}

function postJob(
  options: ClientOptions,
  task: WorkerTask,
  signal: AbortSignal,
): Promise<Dispatcher.ResponseData> {
  const content = {
    job_id: task.jobId,
    job_address: toBase58(task.jobAddress),
    program_id: toBase58(options.programId),
    worker_address: task.workerAddress,
    attempt: task.attempt,
    token_limit: task.tokenLimit,
    request_salt: Buffer.from(task.requestSalt).toString('hex'),
    chat: task.chat,
  };
  return post(options, task, { kind: 'job', path: '/jobs', content, signal });
}

async function post(
  { signer, dispatcher, allowLoopback, nowMs }: ClientOptions,
  task: WorkerTask,
  request: {
    kind: 'job' | 'stop';
    path: string;
    content: Record<string, unknown>;
    signal: AbortSignal;
  },
): Promise<Dispatcher.ResponseData> {
  const { kind, path, content, signal } = request;
  const url = new URL(`${task.endpoint}${path}`);
  assertUrlAllowed(url, allowLoopback);
  const body = JSON.stringify(content);
  const timestampMs = nowMs();
  const signature = await signBy(
    workerRequestMessage({
      kind,
      worker: publicKeyOf(task.workerAddress),
      job: task.jobAddress,
      attempt: task.attempt,
      timestampMs,
      bodySha256: hash('sha256', body, 'buffer'),
    }),
    signer,
  );
  return requestWithin(url, {
    method: 'POST',
    body,
    headers: {
      'content-type': 'application/json',
      'svc-signer': toBase58(signer.publicKey),
      'svc-timestamp': String(timestampMs),
      'svc-signature': Buffer.from(signature).toString('base64'),
    },
    dispatcher,
    signal,
  });
}

async function* readAnswer(
  sent: Promise<Dispatcher.ResponseData>,
  allowBuiltin: boolean,
): AsyncGenerator<readonly WorkerEvent[]> {
  const response = await sent;
  const { headers, body } = response;
  if (!isOk(response)) throw await readRefusal(response);
  const engine = headerOf(headers, 'x-svc-engine');
  let isProven = false;
  // After a destroy its error is of no use.
  body.on('error', () => undefined);
  try {
    // It may have changed its engine since its last health report.
    if (engine === BUILTIN_ENGINE && !allowBuiltin) throw new WorkerFailedError('builtin_engine');
    yield [{ type: 'started', engine }];
    for await (const events of readEvents(body.iterator({ destroyOnReturn: false }))) {
      isProven = events.some(({ type }) => type === 'proof');
      yield events;
    }
  } finally {
    // A proof is the last event. Read to its end, the connection serves the next job.
    if (isProven) void leaveOpen(body);
    else body.destroy();
  }
}

/** @throws WorkerFailedError for all that it throws */
async function* failingAsWorker(
  events: AsyncGenerator<readonly WorkerEvent[]>,
): AsyncGenerator<readonly WorkerEvent[]> {
  try {
    yield* events;
  } catch (error) {
    if (error instanceof WorkerFailedError) throw error;
    throw new WorkerFailedError('connection_failed', { cause: error });
  }
}

const isOk = ({ statusCode }: Dispatcher.ResponseData): boolean =>
  statusCode >= 200 && statusCode < 300;

/** Reads what is left of a body, so that its connection can be used again; or gives up on both. */
async function leaveOpen(body: Dispatcher.ResponseData['body']): Promise<void> {
  const timer = setTimeout(() => body.destroy(), END_TIMEOUT_MS);
  // Its limit would count what was read before, too.
  const limit = Number.MAX_SAFE_INTEGER;
  await body.dump({ limit }).catch(() => body.destroy());
  clearTimeout(timer);
}
