import { delay } from '../../../common/wait.ts';
import {
  getBlockHeight,
  getLatestBlockhash,
  getSignatureStatuses,
  type SignatureStatus,
  sendTransaction,
} from '../rpc/methods.ts';
import type { Rpc } from '../rpc/rpc.ts';
import { LedgerUnavailableError } from './outcome.ts';

export interface Blockhash {
  readonly blockhash: string;
  readonly lastValidBlockHeight: number;
  readonly slot: number;
}

/** What the sender asks of a ledger's node. Every call ends in bounded time. */
export interface Ledger {
  latestBlockhash(): Promise<Blockhash>;
  /** Passes the transaction on unchecked. */
  repeat(wire: string): Promise<void>;
  /** In the order of `signatures`; null for what was not seen. `history` searches all blocks. */
  statuses(signatures: readonly string[], options: { history: boolean }): Promise<Statuses>;
  blockHeight(): Promise<{ height: number; slot: number }>;
}

interface Statuses {
  readonly slot: number;
  readonly values: (SignatureStatus | null)[];
}

/** New enough to build on, old enough not to be lost with a fork. */
export const COMMITMENT = 'confirmed';
/** The most that a node takes in one question. */
const STATUSES_MAX = 256;

export function createLedger(rpc: Rpc): Ledger {
  return {
    async latestBlockhash() {
      const { slot, value } = await getLatestBlockhash(rpc, { commitment: COMMITMENT });
      return { ...value, slot };
    },

    async repeat(wire) {
      await sendTransaction(rpc, wire, { skipPreflight: true });
    },

    async statuses(signatures, { history }) {
      const questions = [];
      for (let from = 0; from < signatures.length; from += STATUSES_MAX) {
        const part = signatures.slice(from, from + STATUSES_MAX);
        questions.push(getSignatureStatuses(rpc, part, { searchTransactionHistory: history }));
      }
      const answers = await Promise.all(questions);
      return {
        slot: Math.min(...answers.map(({ slot }) => slot)),
        values: answers.flatMap(({ value }) => value),
      };
    },

    blockHeight: () => getBlockHeight(rpc, { commitment: COMMITMENT }),
  };
}

/** Young blockhashes, fetched only while transactions are sent. */
interface Blockhashes {
  /** @throws LedgerUnavailableError when no node tells one */
  current(): Promise<Blockhash>;
  /** Says that the ledger does not know this blockhash (any more). */
  forget(refused: Blockhash): void;
}

/** On the fastest ledger a blockhash lives for 3 s, and a transaction needs most of that. */
const FRESH_MS = 1_000;
const RETRY_DELAYS_MS = [100, 400];

export function createBlockhashes(ledger: Ledger): Blockhashes {
  let young: { value: Blockhash; untilMs: number } | undefined;
  let fetching: Promise<Blockhash> | undefined;

  async function fetch(): Promise<Blockhash> {
    const value = await withRetries(() => ledger.latestBlockhash());
    young = { value, untilMs: performance.now() + FRESH_MS };
    return value;
  }

  return {
    async current() {
      if (young !== undefined && performance.now() < young.untilMs) return young.value;
      fetching ??= fetch().finally(() => {
        fetching = undefined;
      });
      return fetching;
    },
    forget(refused) {
      if (young?.value.blockhash === refused.blockhash) young = undefined;
    },
  };
}

async function withRetries(ask: () => Promise<Blockhash>): Promise<Blockhash> {
  for (const delayMs of RETRY_DELAYS_MS) {
    try {
      return await ask();
    } catch {
      await delay(delayMs);
    }
  }
  return ask().catch((cause: unknown) => {
    throw new LedgerUnavailableError('No node tells a blockhash', { signature: null, cause });
  });
}
