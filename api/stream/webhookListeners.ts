import { randomUUID } from 'node:crypto';
import type { Response } from 'express';
import type pg from 'pg';
import type { Logger } from '../../common/logger.ts';
import { systemTime, type Time } from '../../common/wait.ts';
import {
  LISTENERS_PER_WALLET_MAX,
  openListener,
  placeListenerEvents,
  selectListenerEvents,
  TooManyListenersError,
} from '../../webhookOperations/listeners.ts';
import { ApiError } from '../contracts/errors.ts';
import { type OpenStreams, type StreamRequest, writeEvent } from './openStreams.ts';

/** Sends wallets' events to terminals, with the bodies that webhooks get. */
export type WebhookListeners = ReturnType<typeof createWebhookListeners>;

interface Stream {
  readonly sessionId: string;
  readonly streamId: string;
  readonly response: Response;
  /** The place of the last event that was written. */
  after: bigint;
}

const TURN_MS = 500;
const RETRY_AFTER_SECONDS = 30;

/** One reading serves all streams of the process. Without a stream there is none. */
export function createWebhookListeners(options: {
  pool: pg.Pool;
  openStreams: Pick<OpenStreams, 'admit'>;
  logger: Logger;
  time?: Time;
}) {
  const { pool, openStreams, logger, time = systemTime } = options;
  const streams = new Set<Stream>();
  let isClosed = false;
  /** Set from the first stream on until there is none. */
  let cancelTurn: (() => void) | undefined;

  function awaitTurn(): void {
    cancelTurn = time.after(TURN_MS, () => void takeTurn());
  }

  async function takeTurn(): Promise<void> {
    try {
      await send();
    } catch (error) {
      // Nothing is lost: it is read in a later turn.
      logger.warn({ msg: 'Failed to read the events of listeners', err: error });
    }
    cancelTurn = undefined;
    if (streams.size > 0 && !isClosed) awaitTurn();
  }

  async function send(): Promise<void> {
    const open = [...streams];
    if (open.length === 0) return;
    const held = await placeListenerEvents(pool, open);
    for (const { streamId, response } of open) if (!held.has(streamId)) response.end();
    // What a client does not read is not read from the database either.
    const ready = open.filter(
      ({ streamId, response }) => held.has(streamId) && !response.writableNeedDrain,
    );
    const bySession = new Map(ready.map((stream) => [stream.sessionId, stream]));
    for (const { session_id, position, body } of await selectListenerEvents(pool, ready)) {
      const stream = bySession.get(session_id);
      if (!stream) continue;
      writeEvent(stream.response, `id: ${position}\nevent: event\ndata: ${body}\n\n`);
      stream.after = position;
    }
  }

  return {
    /**
     * Writes a wallet's events until the client leaves, its session ends, or another connection of the
     * session takes over.
     *
     * @param stream.resumeAfter the id of the last event that the client has
     * @throws ApiError as `OpenStreams.admit`, and `rate_limit_exceeded` where the wallet has too many
     *   listeners
     */
    async open(
      { resumeAfter, ...asked }: StreamRequest & { resumeAfter: string | undefined },
      response: Response,
    ): Promise<void> {
      const { wallet, sessionId } = asked;
      openStreams.admit(asked, response);
      const streamId = randomUUID();
      const { isResumed } = await asApiError(openListener(pool, { sessionId, streamId, wallet }));
      // Its session ended before that, and the answer with it.
      if (response.writableEnded) return;
      response.set({
        'content-type': 'text/event-stream; charset=utf-8',
        'cache-control': 'no-store, no-transform',
        'x-accel-buffering': 'no',
      });
      response.write(`event: listening\ndata: ${JSON.stringify({ resumed: isResumed })}\n\n`);
      if (isClosed || response.destroyed) return void response.end();
      const after = isResumed ? placeOf(resumeAfter) : 0n;
      const stream = { sessionId, streamId, response, after };
      streams.add(stream);
      response.once('close', () => streams.delete(stream));
      if (!cancelTurn) awaitTurn();
    },
    /** Ends every stream: clients come back to another process. */
    close(): void {
      isClosed = true;
      cancelTurn?.();
      for (const { response } of streams) response.end();
    },
  };
}

const placeOf = (id = ''): bigint => (/^\d{1,15}$/.test(id) ? BigInt(id) : 0n);

async function asApiError<Result>(work: Promise<Result>): Promise<Result> {
  try {
    return await work;
  } catch (error) {
    if (!(error instanceof TooManyListenersError)) throw error;
    throw new ApiError('rate_limit_exceeded', error.message, {
      retryAfterSeconds: RETRY_AFTER_SECONDS,
      details: { limit: LISTENERS_PER_WALLET_MAX, limit_of: 'wallet' },
      cause: error,
    });
  }
}
