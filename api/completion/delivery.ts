import type { ServerResponse } from 'node:http';
import type { Response } from 'express';
import { type ApiError, errorBody, errorHeaders } from '../errors.ts';

export type FinishReason = 'stop' | 'length';

/** What is charged; shown as the answer's usage. */
export interface Usage {
  prompt_tokens: number;
  completion_tokens: number;
  total_tokens: number;
}

/** What identifies an answer to its client. */
export interface AnswerIdentity {
  jobId: string;
  modelId: string;
  /** Unix seconds of the ledger. */
  created: number;
}

/** How an answer reaches its client: as one body, or as a stream of events. */
export interface Delivery {
  /** The first non-empty content was accepted from this worker: there is no way back to another. */
  begin(worker: { address: string; engine: string | null }): void;
  write(text: string): void;
  /** The text is complete and its proof has been checked. */
  finish(finishReason: FinishReason, usage: Usage): void;
  /** The answer settled, or nothing is known of its settlement in time. */
  settled(settlement: Settlement): void;
  /** Ends with an error, as a status while none was sent, else as the stream's last event. */
  fail(error: ApiError): void;
}

/** What a client gets to know of the settlement. */
export interface Settlement {
  settlementTx: string | null;
  creditsRemaining: number | null;
  outputHash: string;
  deliveryReceipt: string;
}

/** Header and trailer names of the settlement, in the order they are announced. */
function settlementFields(settlement: Settlement): Record<string, string> {
  return {
    ...(settlement.settlementTx && { 'x-svc-settlement-tx': settlement.settlementTx }),
    ...(settlement.creditsRemaining !== null && {
      'x-svc-credits-remaining': String(settlement.creditsRemaining),
    }),
    'x-svc-output-hash': settlement.outputHash,
    'x-svc-delivery-receipt': settlement.deliveryReceipt,
  };
}

const TRAILERS =
  'x-svc-settlement-tx, x-svc-credits-remaining, x-svc-output-hash, x-svc-delivery-receipt';

function setWorkerHeaders(
  response: Response,
  worker: { address: string; engine: string | null },
): void {
  response.set('x-svc-worker', worker.address);
  if (worker.engine) response.set('x-svc-engine', worker.engine);
}

function sendError(response: Response, error: ApiError, publicUrl: string): void {
  response.status(error.status).set(errorHeaders(error)).json(errorBody(error, publicUrl));
}

/** The whole answer in one body, sent after its settlement. */
export function createPlainDelivery(options: {
  response: Response;
  identity: AnswerIdentity;
  publicUrl: string;
}): Delivery {
  const { response, identity, publicUrl } = options;
  const parts: string[] = [];
  let ending: { finishReason: FinishReason; usage: Usage } | undefined;

  return {
    begin(worker) {
      setWorkerHeaders(response, worker);
    },
    write(text) {
      parts.push(text);
    },
    finish(finishReason, usage) {
      ending = { finishReason, usage };
    },
    settled(settlement) {
      if (!ending) throw new Error('an answer cannot settle before it is finished');
      response.set(settlementFields(settlement)).json({
        id: `chatcmpl-${identity.jobId}`,
        object: 'chat.completion',
        created: identity.created,
        model: identity.modelId,
        choices: [
          {
            index: 0,
            message: { role: 'assistant', content: parts.join('') },
            finish_reason: ending.finishReason,
          },
        ],
        usage: ending.usage,
      });
    },
    fail(error) {
      sendError(response, error, publicUrl);
    },
  };
}

/** Proxies and clients give up on silent connections after some tens of seconds. */
const KEEP_ALIVE_MS = 10_000;

/** Server-sent events as they come; the settlement follows in trailers. */
export function createStreamDelivery(options: {
  response: Response;
  identity: AnswerIdentity;
  publicUrl: string;
  includeUsage: boolean;
}): Delivery {
  const { response, identity, publicUrl, includeUsage } = options;
  const canHaveTrailers = response.req.httpVersion === '1.1';
  let keepAlive: NodeJS.Timeout | undefined;

  /**
   * A client that reads slowly never slows the worker: what it has not read yet is buffered, and
   * the token limit bounds that.
   */
  function send(event: string): void {
    if (!isWritable(response)) return;
    response.write(event);
    keepAlive?.refresh();
  }

  function chunk(delta: Record<string, string>, finish_reason: FinishReason | null): void {
    const choices = [{ index: 0, delta, finish_reason }];
    send(`data: ${JSON.stringify({ ...chunkHead(identity), choices })}\n\n`);
  }

  function end(): void {
    clearInterval(keepAlive);
    if (isWritable(response)) response.end();
  }

  return {
    begin(worker) {
      setWorkerHeaders(response, worker);
      response.set({
        'content-type': 'text/event-stream; charset=utf-8',
        'cache-control': 'no-cache, no-transform',
        'x-accel-buffering': 'no',
        ...(canHaveTrailers && { trailer: TRAILERS }),
      });
      if (!isWritable(response)) return;
      response.flushHeaders();
      keepAlive = setInterval(() => send(': keep-alive\n\n'), KEEP_ALIVE_MS);
      response.once('close', () => clearInterval(keepAlive));
      chunk({ role: 'assistant', content: '' }, null);
    },
    write(text) {
      chunk({ content: text }, null);
    },
    finish(finishReason, usage) {
      chunk({}, finishReason);
      if (includeUsage) {
        send(`data: ${JSON.stringify({ ...chunkHead(identity), choices: [], usage })}\n\n`);
      }
      send('data: [DONE]\n\n');
      clearInterval(keepAlive);
    },
    settled(settlement) {
      if (canHaveTrailers && isWritable(response)) {
        response.addTrailers(settlementFields(settlement));
      }
      end();
    },
    fail(error) {
      if (!response.headersSent) return sendError(response, error, publicUrl);
      send(`data: ${JSON.stringify(errorBody(error, publicUrl))}\n\n`);
      end();
    },
  };
}

function chunkHead(identity: AnswerIdentity) {
  return {
    id: `chatcmpl-${identity.jobId}`,
    object: 'chat.completion.chunk' as const,
    created: identity.created,
    model: identity.modelId,
  };
}

function isWritable(response: ServerResponse): boolean {
  return !response.writableEnded && !response.destroyed;
}
