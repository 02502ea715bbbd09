import { createHash } from 'node:crypto';
import { type Keypair, PublicKey } from '@solana/web3.js';
import { EventSourceParserStream } from 'eventsource-parser/stream';
import { type Dispatcher, fetch, type Response } from 'undici';
import { z } from 'zod';
import { sign, workerRequestMessage } from '../../programs/client/proof.ts';
import { assertUrlAllowed } from '../../runtime/addressGuard.ts';

/** A worker did not do its part. `code` is the worker's own word, or ours for what it left out. */
export class WorkerFailedError extends Error {
  override name = 'WorkerFailedError';
  readonly code: string;

  constructor(code: string, options?: ErrorOptions) {
    super(`The worker failed: ${code}`, options);
    this.code = code;
  }
}

const sha256Hex = z.string().regex(/^sha256:[0-9a-f]{64}$/);
const tokenCount = z.int().min(0).max(0xffff_ffff);

/** The last event of an answer: what the worker signed. */
const proofEvent = z.object({
  output_hash: sha256Hex,
  prompt_tokens: tokenCount,
  completion_tokens: tokenCount,
  signature: z.base64(),
});

const chunkEvent = z.object({
  choices: z
    .array(
      z.object({
        delta: z.object({ content: z.string().nullish() }).optional(),
        finish_reason: z.string().nullish(),
      }),
    )
    .default([]),
});

const errorEvent = z.object({ error: z.object({ code: z.string().max(64) }) });

export interface WorkerProof {
  outputHash: Uint8Array;
  promptTokens: number;
  completionTokens: number;
  signature: Uint8Array;
}

export type WorkerEvent =
  | { type: 'started'; engine: string | null }
  | { type: 'content'; text: string }
  | { type: 'finish'; reason: string }
  | { type: 'proof'; proof: WorkerProof };

/** One attempt at a job, as it is put to one worker. */
export interface WorkerTask {
  endpoint: string;
  workerAddress: string;
  jobId: string;
  jobAddress: PublicKey;
  attempt: number;
  tokenLimit: number;
  /** The chat-completions fields that matter to an engine. */
  chat: Record<string, unknown>;
}

export interface WorkerClient {
  /**
   * Puts the job to the worker and yields what it answers, up to its proof.
   * @throws WorkerFailedError when it refuses, breaks off, or says what the protocol does not know
   */
  ask(task: WorkerTask, signal: AbortSignal): AsyncGenerator<WorkerEvent>;
  /** Tells the worker to stop, send what it has and prove that. */
  stop(task: WorkerTask): Promise<void>;
}

/** A stop is answered at once; the last deltas and the proof come on the open stream. */
const STOP_TIMEOUT_MS = 5_000;

/**
 * Speaks the worker protocol (docs/worker-protocol.md): requests are signed by the hot signer,
 * which the worker finds in the job's controller on the ledger.
 */
export function createWorkerClient(options: {
  signer: Keypair;
  programId: PublicKey;
  dispatcher: Dispatcher;
  allowLoopback: boolean;
  nowMs: () => number;
}): WorkerClient {
  const { signer, programId, dispatcher, allowLoopback, nowMs } = options;

  function post(
    kind: 'job' | 'stop',
    task: WorkerTask,
    path: string,
    content: Record<string, unknown>,
    signal: AbortSignal,
  ): Promise<Response> {
    const url = new URL(`${task.endpoint}${path}`);
    assertUrlAllowed(url, allowLoopback);
    const body = JSON.stringify(content);
    const timestampMs = nowMs();
    const signature = sign(
      workerRequestMessage({
        kind,
        worker: new PublicKey(task.workerAddress),
        job: task.jobAddress,
        attempt: task.attempt,
        timestampMs,
        bodySha256: createHash('sha256').update(body).digest(),
      }),
      signer,
    );
    return fetch(url, {
      method: 'POST',
      body,
      headers: {
        'content-type': 'application/json',
        'svc-signer': signer.publicKey.toBase58(),
        'svc-timestamp': String(timestampMs),
        'svc-signature': Buffer.from(signature).toString('base64'),
      },
      dispatcher,
      redirect: 'error',
      signal,
    });
  }

  async function* ask(task: WorkerTask, signal: AbortSignal): AsyncGenerator<WorkerEvent> {
    const response = await post(
      'job',
      task,
      '/jobs',
      {
        job_id: task.jobId,
        job_address: task.jobAddress.toBase58(),
        program_id: programId.toBase58(),
        worker_address: task.workerAddress,
        attempt: task.attempt,
        token_limit: task.tokenLimit,
        chat: task.chat,
      },
      signal,
    );
    if (!response.ok || !response.body) throw new WorkerFailedError(await refusalCode(response));
    yield { type: 'started', engine: response.headers.get('x-svc-engine') };
    const events = response.body
      .pipeThrough(new TextDecoderStream())
      .pipeThrough(new EventSourceParserStream({ maxBufferSize: 1_048_576 }));
    for await (const { event, data } of events) yield* readEvent(event, data);
  }

  return {
    async *ask(task, signal) {
      try {
        yield* ask(task, signal);
      } catch (error) {
        if (error instanceof WorkerFailedError) throw error;
        throw new WorkerFailedError('connection_failed', { cause: error });
      }
    },
    async stop(task) {
      try {
        const response = await post(
          'stop',
          task,
          `/jobs/${task.jobAddress.toBase58()}/stop`,
          { attempt: task.attempt },
          AbortSignal.timeout(STOP_TIMEOUT_MS),
        );
        await response.body?.cancel();
        if (!response.ok) throw new WorkerFailedError(`stop_${response.status}`);
      } catch (error) {
        if (error instanceof WorkerFailedError) throw error;
        throw new WorkerFailedError('stop_failed', { cause: error });
      }
    },
  };
}

function* readEvent(event: string | undefined, data: string): Generator<WorkerEvent> {
  if (data === '[DONE]') return;
  const json = parseJson(data);
  if (event === 'proof') {
    const proof = parseEvent(proofEvent, json);
    yield {
      type: 'proof',
      proof: {
        outputHash: Buffer.from(proof.output_hash.slice('sha256:'.length), 'hex'),
        promptTokens: proof.prompt_tokens,
        completionTokens: proof.completion_tokens,
        signature: Buffer.from(proof.signature, 'base64'),
      },
    };
    return;
  }
  if (event === 'error') throw new WorkerFailedError(parseEvent(errorEvent, json).error.code);
  const [choice] = parseEvent(chunkEvent, json).choices;
  if (choice?.delta?.content) yield { type: 'content', text: choice.delta.content };
  if (choice?.finish_reason) yield { type: 'finish', reason: choice.finish_reason };
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    // The cause quotes the text, which no log may hold.
    if (cause instanceof SyntaxError) throw new WorkerFailedError('malformed_event');
    throw cause;
  }
}

function parseEvent<Schema extends z.ZodType>(schema: Schema, value: unknown): z.infer<Schema> {
  const parsed = schema.safeParse(value);
  if (!parsed.success) throw new WorkerFailedError('malformed_event');
  return parsed.data;
}

/** Of an error body only its code is of use; it is read up to a bound. */
async function refusalCode(response: Response): Promise<string> {
  const parsed = errorEvent.safeParse(await response.json().catch(() => undefined));
  return parsed.success ? parsed.data.error.code : `status_${response.status}`;
}
