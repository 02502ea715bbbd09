import { delay } from '../../../common/wait.ts';
import { getLatestBlockhash } from '../rpc/methods.ts';
import type { LedgerNode } from '../rpc/rpc.ts';
import { LedgerUnavailableError } from './sendResult.ts';

export interface Blockhash {
  readonly blockhash: string;
  readonly lastValidBlockHeight: number;
  readonly slot: number;
}

/** Recent enough for new transactions, old enough not to be lost with a fork. */
export const COMMITMENT = 'confirmed';

/** On the fastest ledger a blockhash lives for 3 s, and a transaction needs most of that. */
const FRESH_MS = 1_000;
const RETRY_DELAYS_MS = [100, 400];

/** Young blockhashes, fetched only while transactions are sent. */
export function createBlockhashes(rpc: LedgerNode) {
  let young: { value: Blockhash; untilMs: number } | undefined;
  let fetching: Promise<Blockhash> | undefined;

  async function fetch(): Promise<Blockhash> {
    const { slot, value: latest } = await withRetries(() =>
      getLatestBlockhash(rpc, { commitment: COMMITMENT }),
    );
    const value = { ...latest, slot };
    young = { value, untilMs: performance.now() + FRESH_MS };
    return value;
  }

  return {
    /** @throws LedgerUnavailableError when no node answers with one */
    async current(): Promise<Blockhash> {
      if (young !== undefined && performance.now() < young.untilMs) return young.value;
      fetching ??= fetch().finally(() => {
        fetching = undefined;
      });
      return fetching;
    },
    /** Drops a blockhash that the ledger does not know, or no longer. */
    forget(refused: Blockhash): void {
      if (young?.value.blockhash === refused.blockhash) young = undefined;
    },
  };
}

async function withRetries<Answer>(ask: () => Promise<Answer>): Promise<Answer> {
  for (const delayMs of RETRY_DELAYS_MS) {
    try {
      return await ask();
    } catch {
      await delay(delayMs);
    }
  }
  return ask().catch((cause: unknown) => {
    throw new LedgerUnavailableError('No node returned a blockhash', { signature: null, cause });
  });
}
