import type { SignatureStatus } from '@solana/web3.js';
import { delay } from '../../../runtime/wait.ts';
import type { Ledger } from './ledger.ts';
import { LedgerUnavailableError, type Outcome, refusalOf } from './outcome.ts';
import { createSignatureHints } from './signatureHints.ts';
import { createSlotPace } from './slotPace.ts';

/** The commitments that decide an outcome; a processed block can still vanish. */
export type SenderCommitment = 'confirmed' | 'finalized';

/** A transaction that was passed on, or may have been. */
export interface SentTransaction {
  readonly wire: Uint8Array;
  readonly signature: string;
  readonly lastValidBlockHeight: number;
}

/** Watches everything in flight, and sends it again, until each transaction's fate is certain. */
export interface Confirmer {
  /**
   * @throws LedgerUnavailableError with the signature, when the ledger stays out of reach or the
   *   confirmer is closed: then the transaction's fate is not known
   */
  confirm(sent: SentTransaction): Promise<Outcome>;
  close(): void;
}

interface Flight extends SentTransaction {
  readonly end: PromiseWithResolvers<Outcome>;
  sentMs: number;
}

const POLL_MS_MIN = 20;
const POLL_MS_MAX = 400;
/** Where slots are shorter, the next poll comes before a notification does. */
const HINTS_FROM_MS = 200;
/** Nodes drop transactions under load. */
const REPEAT_MS = 1_000;
const UNREACHABLE_MS_MAX = 30_000;
const CLOSED = 'The sender was closed';

export function createConfirmer(options: {
  ledger: Ledger;
  wsUrl: string | undefined;
  commitment: SenderCommitment;
}): Confirmer {
  const { ledger, wsUrl, commitment } = options;
  const flights = new Map<string, Flight>();
  const pace = createSlotPace({ minMs: POLL_MS_MIN, maxMs: POLL_MS_MAX });
  const onHint = (): void => wake.abort();
  const hints =
    wsUrl === undefined ? undefined : createSignatureHints({ wsUrl, commitment, onHint });
  let wake = new AbortController();
  let running = false;
  let closed = false;
  let heightReadMs = 0;

  function settle(flight: Flight, outcome: Outcome): void {
    flights.delete(flight.signature);
    flight.end.resolve(outcome);
  }

  function abandon(message: string, cause?: unknown): void {
    for (const flight of flights.values()) {
      const { signature } = flight;
      flights.delete(signature);
      flight.end.reject(new LedgerUnavailableError(message, { signature, cause }));
    }
  }

  function judge(flight: Flight, status: SignatureStatus | null | undefined): void {
    if (!status || !reached(status, commitment)) return;
    const { signature } = flight;
    const { slot, err } = status;
    if (err === null) settle(flight, { status: 'confirmed', signature, slot });
    else settle(flight, { status: 'rejected', signature, error: refusalOf(err), slot });
  }

  async function read(watched: readonly Flight[], history: boolean) {
    const signatures = watched.map((flight) => flight.signature);
    const { slot, values } = await ledger.statuses(signatures, { history });
    return { slot, statuses: watched.map((flight, index) => ({ flight, status: values[index] })) };
  }

  /** A blockhash dies by block height; then its transaction has landed or never will. */
  async function expire(height: number, heightSlot: number): Promise<void> {
    const dead = [...flights.values()].filter((flight) => height > flight.lastValidBlockHeight);
    if (dead.length === 0) return;
    const { slot, statuses } = await read(dead, true);
    // Another node may answer, one that has not come as far: it is asked again in the next round.
    if (slot < heightSlot) return;
    for (const { flight, status } of statuses) {
      const { signature, lastValidBlockHeight } = flight;
      if (status) judge(flight, status);
      else settle(flight, { status: 'expired', signature, lastValidBlockHeight, slot });
    }
  }

  function repeat(height: number): void {
    for (const flight of flights.values()) {
      if (height > flight.lastValidBlockHeight) continue;
      if (performance.now() - flight.sentMs < REPEAT_MS) continue;
      flight.sentMs = performance.now();
      // Whatever the node says to a repeat, the status decides.
      ledger.repeat(flight.wire).catch(() => undefined);
    }
  }

  async function round(): Promise<void> {
    const { slot, statuses } = await read([...flights.values()], false);
    pace.observe(slot, performance.now());
    for (const { flight, status } of statuses) judge(flight, status);
    if (flights.size === 0 || performance.now() - heightReadMs < REPEAT_MS) return;
    const { height, slot: heightSlot } = await ledger.blockHeight();
    heightReadMs = performance.now();
    await expire(height, heightSlot);
    repeat(height);
  }

  async function run(): Promise<void> {
    let answeredMs = performance.now();
    let pauseMs = pace.intervalMs;
    heightReadMs = answeredMs;
    while (flights.size > 0) {
      await delay(pauseMs, wake.signal);
      wake = new AbortController();
      try {
        await round();
        answeredMs = performance.now();
        pauseMs = pace.intervalMs;
      } catch (cause) {
        pauseMs = POLL_MS_MAX;
        const silent = performance.now() - answeredMs >= UNREACHABLE_MS_MAX;
        if (silent) abandon('The ledger stayed out of reach', cause);
      }
    }
    running = false;
  }

  return {
    async confirm(sent) {
      if (closed) throw new LedgerUnavailableError(CLOSED, { signature: sent.signature });
      // Two callers with the same instructions and blockhash have sent one transaction.
      const same = flights.get(sent.signature);
      if (same !== undefined) return same.end.promise;
      if (pace.intervalMs >= HINTS_FROM_MS) hints?.watch(sent.signature);
      const end = Promise.withResolvers<Outcome>();
      flights.set(sent.signature, { ...sent, end, sentMs: performance.now() });
      if (!running) {
        running = true;
        void run();
      }
      return end.promise;
    },
    close() {
      closed = true;
      abandon(CLOSED);
      hints?.close();
      wake.abort();
    },
  };
}

function reached(status: SignatureStatus, commitment: SenderCommitment): boolean {
  const { confirmationStatus } = status;
  return confirmationStatus === 'finalized' || confirmationStatus === commitment;
}
