import type { Response } from 'express';
import { creditsNumber, eventData } from '../../../common/jsonForms.ts';
import type { Logger } from '../../../common/logger.ts';
import type { Database } from '../../../common/postgres.ts';
import { systemTime, type Time } from '../../../common/wait.ts';
import { ApiError } from '../../http/contracts/errors.ts';
import type { JobWatch } from '../../jobs/jobWatch.ts';
import type { StreamChanges } from '../contracts/job.ts';
import {
  type Balance,
  type ConsoleJobRow,
  selectBalances,
  selectChangedJobs,
  selectJobsSince,
} from '../sql/jobs.ts';
import { selectLiveSessions } from '../sql/sessions.ts';
import { viewJobs } from '../views/jobView.ts';

/** Tells browsers of their wallets' changes. */
export interface ChangeStreams {
  /**
   * Writes a wallet's changes until the browser leaves or the session ends.
   *
   * @param listener.resumeAfter the id of the last event that the browser has
   * @throws ApiError `rate_limit_exceeded` where the wallet has too many streams
   */
  open(
    listener: { wallet: string; sessionId: string; resumeAfter: string | undefined },
    response: Response,
  ): Promise<void>;
  /** Ends every stream: browsers come back to another process. */
  close(): void;
}

interface Listener {
  readonly wallet: string;
  readonly sessionId: string;
  readonly response: Response;
  /** The account's newest event that it was told of. */
  sequence: bigint | undefined;
}

const TURN_MS = 1_000;
/** Proxies give up on silent connections after some tens of seconds. */
const TURNS_PER_CHECK = 10;
const STREAMS_PER_WALLET_MAX = 20;
/** More than that is read anew at less cost. */
const JOBS_MAX = 500;
/** Of all wallets' jobs between two turns; beyond, everybody reads anew. */
const ADDRESSES_MAX = 20_000;
/** Ledger transactions of a moment are mirrored in the order of their slots, not of their seconds. */
const OVERLAP_SECONDS = 10n;

/**
 * One listener to the mirror's notifications serves every stream of the process. What changed is
 * read once a second, for all of them together. Accounts are always read: purchases and payments
 * change them without a job.
 *
 * @param options.nowSeconds the ledger's time
 */
export function createChangeStreams(options: {
  database: Database;
  watch: Pick<JobWatch, 'onChanges'>;
  logger: Logger;
  nowSeconds: () => bigint;
  time?: Time;
}): ChangeStreams {
  const { database, watch, logger, nowSeconds, time = systemTime } = options;
  const listeners = new Set<Listener>();
  let changed = new Set<string>();
  let turn = 0;
  let isBusy = false;
  let isClosed = false;
  let lastTold: Promise<unknown> = Promise.resolve();

  /** One reading after the other, so that no older one is sent after a newer one. */
  function inOrder(tell: () => Promise<void>): Promise<void> {
    const told = lastTold.then(tell);
    lastTold = told.catch(() => undefined);
    return told;
  }

  /** Set while there is a stream: a process without one has nothing to do here. */
  let stopWatching: (() => void) | undefined;

  function listen(listener: Listener): void {
    listeners.add(listener);
    listener.response.once('close', () => {
      listeners.delete(listener);
      if (listeners.size === 0) stopWatching?.();
    });
    stopWatching ??= startWatching();
  }

  function startWatching(): () => void {
    const stop = watch.onChanges((addresses) => {
      for (const address of addresses) changed.add(address);
    });
    let cancel = time.after(TURN_MS, onTurn);
    function onTurn(): void {
      cancel = time.after(TURN_MS, onTurn);
      void takeTurn();
    }
    return () => {
      stop();
      cancel();
      changed = new Set();
      stopWatching = undefined;
    };
  }

  async function takeTurn(): Promise<void> {
    if (isBusy) return;
    isBusy = true;
    turn += 1;
    try {
      if (turn % TURNS_PER_CHECK === 0) await check();
      await inOrder(sendChanges);
    } catch (error) {
      // What was lost is read anew by the browsers.
      logger.warn({ msg: 'Failed to read the changes of wallets', err: error });
      for (const { response } of listeners) sendReset(response);
    } finally {
      isBusy = false;
    }
  }

  /** Ends the streams of sessions that have ended, and keeps the others' connections alive. */
  async function check(): Promise<void> {
    const live = await selectLiveSessions(
      database,
      [...listeners].map(({ sessionId }) => sessionId),
    );
    for (const { sessionId, response } of listeners) {
      if (live.has(sessionId)) write(response, ': here\n\n');
      else response.end();
    }
  }

  async function sendChanges(): Promise<void> {
    const addresses = [...changed];
    changed = new Set();
    if (addresses.length > ADDRESSES_MAX) {
      for (const { response } of listeners) sendReset(response);
      return;
    }
    const wallets = [...new Set([...listeners].map(({ wallet }) => wallet))];
    const [rows, balances] = await Promise.all([
      addresses.length === 0 ? [] : selectChangedJobs(database, { addresses, wallets }),
      selectBalances(database, wallets),
    ]);
    const jobs = Map.groupBy(rows, ({ wallet }) => wallet);
    for (const wallet of wallets) {
      const changedJobs = jobs.get(wallet) ?? [];
      const balance = balances.get(wallet);
      const to = [...listeners].filter(
        (one) =>
          one.wallet === wallet && (changedJobs.length > 0 || one.sequence !== balance?.sequence),
      );
      if (to.length > 0) await send(to, changedJobs, balance);
    }
  }

  async function send(
    to: readonly Listener[],
    rows: readonly ConsoleJobRow[],
    balance: Balance | undefined,
  ): Promise<void> {
    for (const listener of to) listener.sequence = balance?.sequence;
    if (rows.length > JOBS_MAX) {
      for (const { response } of to) sendReset(response);
      return;
    }
    const data: StreamChanges = {
      jobs: await viewJobs(database, rows),
      available_credits: creditsNumber(balance?.available_credits ?? 0n),
      locked_credits: creditsNumber(balance?.locked_credits ?? 0n),
    };
    const event = `id: ${nowSeconds()}\nevent: changes\ndata: ${eventData(data)}\n\n`;
    for (const { response } of to) write(response, event);
  }

  function sendReset(response: Response): void {
    write(response, `id: ${nowSeconds()}\nevent: reset\ndata: {}\n\n`);
  }

  /** What a browser missed while it was away; at first the balance alone. */
  async function catchUp(listener: Listener, resumeAfter: string | undefined): Promise<void> {
    const { wallet, response } = listener;
    const balance = (await selectBalances(database, [wallet])).get(wallet);
    if (resumeAfter === undefined) return send([listener], [], balance);
    if (!/^\d{1,12}$/.test(resumeAfter)) return sendReset(response);
    const sinceSeconds = BigInt(resumeAfter) - OVERLAP_SECONDS;
    const missed = await selectJobsSince(database, { wallet, sinceSeconds, limit: JOBS_MAX + 1 });
    return send([listener], missed, balance);
  }

  return {
    async open({ wallet, sessionId, resumeAfter }, response) {
      const streams = [...listeners].filter((listener) => listener.wallet === wallet);
      if (streams.length >= STREAMS_PER_WALLET_MAX) {
        throw new ApiError('rate_limit_exceeded', 'This wallet has too many open streams.', {
          retryAfterSeconds: 10,
          details: { limit: STREAMS_PER_WALLET_MAX },
        });
      }
      response.set({
        'content-type': 'text/event-stream; charset=utf-8',
        'cache-control': 'no-store, no-transform',
        'x-accel-buffering': 'no',
      });
      response.write('retry: 2000\n\n');
      if (isClosed) return void response.end();
      const listener = { wallet, sessionId, response, sequence: undefined };
      listen(listener);
      await inOrder(() => catchUp(listener, resumeAfter));
    },
    close() {
      isClosed = true;
      stopWatching?.();
      for (const { response } of listeners) response.end();
    },
  };
}

/** A stream may have ended during a reading: to write to it then is an error that ends the process. */
function write(response: Response, text: string): void {
  if (!response.writableEnded) response.write(text);
}
