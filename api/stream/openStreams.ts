import type { Response } from 'express';
import type pg from 'pg';
import { listen } from '../../common/listen.ts';
import type { Logger } from '../../common/logger.ts';
import { systemTime, type Time } from '../../common/wait.ts';
import { ApiError, ClientLeftError } from '../contracts/errors.ts';
import { selectLiveSessions } from '../sql/sessions.ts';

/** A stream that a session asks for. */
export interface StreamRequest {
  wallet: string;
  sessionId: string;
  /** The client's address, in the form that limits count. */
  address: string;
}

/** The open streams of a process, with their number and duration limited. */
export type OpenStreams = ReturnType<typeof createOpenStreams>;

/** How many streams may be open at the same time. */
export const STREAM_LIMITS = {
  perWallet: 20,
  /** Many wallets may share an address. */
  perAddress: 200,
  perProcess: 2_000,
};

const TURN_MS = 1_000;
/** Proxies give up on silent connections after some tens of seconds. */
const TURNS_PER_SIGN_OF_LIFE = 10;
const SIGN_OF_LIFE = ': here\n\n';
const RETRY_AFTER_SECONDS = 10;

interface OpenSession {
  readonly responses: Set<Response>;
  /** When the session ends if it is not used, by `options.time`. */
  endsAtMs: number;
}

/**
 * A session ends by a statement, of which the database notifies every process, or by its age. A
 * notification is missed while its connection is renewed, so all sessions are read every ten seconds.
 */
export function createOpenStreams(options: {
  pool: pg.Pool;
  logger: Logger;
  limits?: typeof STREAM_LIMITS;
  time?: Time;
}) {
  const { pool, logger, limits = STREAM_LIMITS, time = systemTime } = options;
  const closing = new AbortController();
  const sessions = new Map<string, OpenSession>();
  const byWallet = new Map<string, number>();
  const byAddress = new Map<string, number>();
  let open = 0;
  let turn = 0;
  let cancelTurn: (() => void) | undefined;
  let listening: Promise<void> | undefined;

  /** Counts a stream until its connection ends. @throws ApiError where there are too many */
  function count({ wallet, address }: StreamRequest, response: Response): void {
    refuseAbove(limits.perWallet, byWallet.get(wallet), 'wallet');
    refuseAbove(limits.perAddress, byAddress.get(address), 'address');
    if (open >= limits.perProcess) {
      throw new ApiError('service_unavailable', 'Too many streams are open here.', {
        retryAfterSeconds: RETRY_AFTER_SECONDS,
      });
    }
    add(byWallet, wallet, 1);
    add(byAddress, address, 1);
    open += 1;
    response.once('close', () => {
      add(byWallet, wallet, -1);
      add(byAddress, address, -1);
      open -= 1;
    });
  }

  function hold(sessionId: string, response: Response): void {
    // The next turn reads how long the session lasts.
    const session = sessions.get(sessionId) ?? { responses: new Set(), endsAtMs: -Infinity };
    sessions.set(sessionId, session);
    session.responses.add(response);
    response.once('close', () => {
      session.responses.delete(response);
      if (session.responses.size === 0) sessions.delete(sessionId);
    });
    cancelTurn ??= time.after(TURN_MS, () => void takeTurn());
  }

  async function takeTurn(): Promise<void> {
    turn += 1;
    const isForAll = turn % TURNS_PER_SIGN_OF_LIFE === 0;
    const nowMs = time.nowMs();
    const due = [...sessions].filter(([, { endsAtMs }]) => isForAll || endsAtMs <= nowMs);
    await check(due.map(([id]) => id));
    if (isForAll) {
      for (const response of [...sessions.values()].flatMap(({ responses }) => [...responses])) {
        // A stream without headers may still be refused.
        if (response.headersSent) writeEvent(response, SIGN_OF_LIFE);
      }
    }
    const goesOn = sessions.size > 0 && !closing.signal.aborted;
    cancelTurn = goesOn ? time.after(TURN_MS, () => void takeTurn()) : undefined;
  }

  async function check(ids: readonly string[]): Promise<void> {
    if (ids.length === 0) return;
    try {
      const live = await selectLiveSessions(pool, ids);
      const nowMs = time.nowMs();
      for (const id of ids) {
        const lastsMs = live.get(id);
        const session = sessions.get(id);
        if (lastsMs === undefined) end(id);
        else if (session) session.endsAtMs = nowMs + lastsMs;
      }
    } catch (error) {
      logger.warn({ msg: 'Failed to read which sessions have ended', err: error });
    }
  }

  function end(sessionId: string): void {
    for (const response of sessions.get(sessionId)?.responses ?? []) response.end();
  }

  return {
    /** Subscribes to the ends of sessions, which any process may cause. */
    async start(): Promise<void> {
      await new Promise<void>((resolve) => {
        listening = listen({
          pool,
          channel: 'ended_sessions',
          signal: closing.signal,
          onNotification: end,
          onListening() {
            resolve();
            void check([...sessions.keys()]);
          },
          onLost: (error) =>
            logger.warn({ msg: 'Lost the notifications of ended sessions', err: error }),
        });
      });
    },
    /**
     * Admits a stream. From then on it ends with its session, and has a sign of life every ten seconds.
     *
     * @throws ApiError `rate_limit_exceeded` or `service_unavailable`
     * @throws ClientLeftError
     */
    admit(stream: StreamRequest, response: Response): void {
      if (response.destroyed) throw new ClientLeftError();
      count(stream, response);
      hold(stream.sessionId, response);
    },
    async close(): Promise<void> {
      closing.abort();
      cancelTurn?.();
      await listening;
    },
  };
}

/** Writes to a stream, which may have ended by then: to write to it would end the process. */
export function writeEvent(response: Response, text: string): void {
  if (!response.writableEnded) response.write(text);
}

function refuseAbove(limit: number, open = 0, whose: 'wallet' | 'address'): void {
  if (open < limit) return;
  throw new ApiError('rate_limit_exceeded', `This ${whose} has too many open streams.`, {
    retryAfterSeconds: RETRY_AFTER_SECONDS,
    details: { limit, limit_of: whose },
  });
}

function add(counts: Map<string, number>, whose: string, change: number): void {
  const count = (counts.get(whose) ?? 0) + change;
  if (count === 0) counts.delete(whose);
  else counts.set(whose, count);
}
