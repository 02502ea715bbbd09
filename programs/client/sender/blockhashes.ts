import { delay } from '../../../runtime/wait.ts';
import type { Blockhash, Ledger } from './ledger.ts';
import { LedgerUnavailableError } from './outcome.ts';

/** Young blockhashes, fetched only while transactions are sent. */
export interface Blockhashes {
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
