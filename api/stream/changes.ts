import type { Response } from 'express';
import { creditsNumber, eventData } from '../../common/format.ts';
import type { Logger } from '../../common/logger.ts';
import type { Database } from '../../common/postgres.ts';
import { systemTime, type Time } from '../../common/wait.ts';
import type { ConsoleJob, StreamChanges } from '../contracts/job.ts';
import type { JobWatch } from '../jobs/jobWatch.ts';
import { type Balance, selectBalances, selectChangedJobs, selectJobsSince } from '../sql/jobs.ts';
import { viewJobs } from '../views/job.ts';
import { type OpenStreams, type StreamRequest, writeEvent } from './openStreams.ts';

/** Sends browsers the changes of their wallets. */
export interface ChangeStreams {
  /**
   * Writes a wallet's changes until the browser leaves or the session ends.
   *
   * @param stream.resumeAfter the id of the last event that the browser has
   * @throws ApiError as `OpenStreams.admit`
   */
  open(
    stream: StreamRequest & { resumeAfter: string | undefined },
    response: Response,
  ): Promise<void>;
  /** Ends every stream. Browsers reconnect, to another process. */
  close(): void;
}

interface Listener {
  readonly response: Response;
  /** The sequence of the account's newest event that it was sent. */
  sequence: bigint | undefined;
}

const TURN_MS = 1_000;
/** Above that, reading the lists again costs less. */
const JOBS_MAX = 500;
/** Of all wallets' jobs between two turns. Above that, all browsers read their lists again. */
const ADDRESSES_MAX = 20_000;
/** The mirror's order within some seconds is that of slots, not of times. */
const OVERLAP_SECONDS = 10n;

/**
 * One listener to the mirror's notifications serves every stream of the process. What changed is
 * read once a second, by three statements for all wallets together, however many streams each has.
 * Accounts are always read: purchases and payments change them without a job.
 *
 * @param options.nowSeconds the ledger's time
 */
export function createChangeStreams(options: {
  database: Database;
  openStreams: Pick<OpenStreams, 'admit'>;
  watch: Pick<JobWatch, 'onChanges'>;
  logger: Logger;
  nowSeconds: () => bigint;
  time?: Time;
}): ChangeStreams {
  const { database, openStreams, watch, logger, nowSeconds, time = systemTime } = options;
  const listeners = new Map<string, Set<Listener>>();
  let changed = new Set<string>();
  let isBusy = false;
  let isClosed = false;
  let lastSending: Promise<unknown> = Promise.resolve();

  /** Runs one reading after the other, so that no older one is sent after a newer one. */
  function inOrder(send: () => Promise<void>): Promise<void> {
    const sending = lastSending.then(send);
    lastSending = sending.catch(() => undefined);
    return sending;
  }

  /** Set while there is a stream: a process without one follows no changes. */
  let stopWatching: (() => void) | undefined;

  function listen(wallet: string, listener: Listener): void {
    const others = listeners.get(wallet) ?? new Set();
    listeners.set(wallet, others.add(listener));
    listener.response.once('close', () => {
      others.delete(listener);
      if (others.size === 0) listeners.delete(wallet);
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
    try {
      await inOrder(sendChanges);
    } catch (error) {
      // The browsers read their lists again, since changes were lost.
      logger.warn({ msg: 'Failed to read the changes of wallets', err: error });
      sendResets();
    } finally {
      isBusy = false;
    }
  }

  async function sendChanges(): Promise<void> {
    const addresses = [...changed];
    changed = new Set();
    if (addresses.length > ADDRESSES_MAX) return sendResets();
    const wallets = [...listeners.keys()];
    const [rows, balances] = await Promise.all([
      addresses.length === 0 ? [] : selectChangedJobs(database, { addresses, wallets }),
      selectBalances(database, wallets),
    ]);
    const counts = Map.groupBy(rows, ({ wallet }) => wallet);
    const isShown = ({ wallet }: { wallet: string }) =>
      (counts.get(wallet)?.length ?? 0) <= JOBS_MAX;
    const shown = rows.filter(isShown);
    const views = await viewJobs(database, shown);
    const jobs = Map.groupBy(views, (_view, place) => shown[place]?.wallet);
    // A wallet whose first stream came during the reading gets nothing here: `catchUp` reads for it.
    for (const [wallet, streams] of listeners) {
      if (!isShown({ wallet })) sendResets(streams);
      else send(streams, jobs.get(wallet) ?? [], balances.get(wallet));
    }
  }

  /** Writes to those of a wallet's streams that do not have it yet. */
  function send(
    streams: Iterable<Listener>,
    jobs: readonly ConsoleJob[],
    balance: Balance | undefined,
  ): void {
    const behind = [...streams].filter(
      ({ sequence }) => jobs.length > 0 || sequence !== balance?.sequence,
    );
    if (behind.length === 0) return;
    const data: StreamChanges = {
      jobs: [...jobs],
      available_credits: creditsNumber(balance?.available_credits ?? 0n),
      locked_credits: creditsNumber(balance?.locked_credits ?? 0n),
    };
    const event = `id: ${nowSeconds()}\nevent: changes\ndata: ${eventData(data)}\n\n`;
    for (const listener of behind) {
      listener.sequence = balance?.sequence;
      writeEvent(listener.response, event);
    }
  }

  function sendResets(
    streams: Iterable<Listener> = [...listeners.values()].flatMap((all) => [...all]),
  ): void {
    for (const { response } of streams) {
      writeEvent(response, `id: ${nowSeconds()}\nevent: reset\ndata: {}\n\n`);
    }
  }

  /** What a browser missed while it was away; at first the balance alone. */
  async function catchUp(
    wallet: string,
    listener: Listener,
    resumeAfter: string | undefined,
  ): Promise<void> {
    const balance = (await selectBalances(database, [wallet])).get(wallet);
    if (resumeAfter === undefined) return send([listener], [], balance);
    if (!/^\d{1,12}$/.test(resumeAfter)) return sendResets([listener]);
    const sinceSeconds = BigInt(resumeAfter) - OVERLAP_SECONDS;
    const missed = await selectJobsSince(database, { wallet, sinceSeconds, limit: JOBS_MAX + 1 });
    if (missed.length > JOBS_MAX) return sendResets([listener]);
    send([listener], await viewJobs(database, missed), balance);
  }

  return {
    async open({ resumeAfter, ...stream }, response) {
      openStreams.admit(stream, response);
      response.set({
        'content-type': 'text/event-stream; charset=utf-8',
        'cache-control': 'no-store, no-transform',
        'x-accel-buffering': 'no',
      });
      response.write('retry: 2000\n\n');
      if (isClosed) return void response.end();
      const listener = { response, sequence: undefined };
      listen(stream.wallet, listener);
      await inOrder(() => catchUp(stream.wallet, listener, resumeAfter));
    },
    close() {
      isClosed = true;
      stopWatching?.();
      for (const { response } of [...listeners.values()].flatMap((all) => [...all])) response.end();
    },
  };
}
