import { useQuery } from '@tanstack/react-query';
import { useConfig } from '../data/ledger.ts';
import { type Read, useAsRead } from '../data/queries.ts';
import { useNow } from '../design/time.tsx';

const EVERY_MS = 10_000;

/**
 * The ledger's time in Unix milliseconds, which deadlines are judged by; undefined until it is known.
 * Where browsers have no node to ask, this page's own time is used.
 */
export function useLedgerTime(): {
  readonly nowMs: number | undefined;
  readonly read: Read<number>;
} {
  const rpcUrl = useConfig()?.rpc_url;
  const now = useNow();
  const queryKey = ['ledger time', rpcUrl];
  const result = useQuery({
    queryKey,
    queryFn: async () => {
      if (!rpcUrl) throw new Error('There is no node to ask.');
      // Loaded after the page, which shows no deadlines until then.
      const { readLeadMs } = await import('./clock.ts');
      return readLeadMs(rpcUrl);
    },
    enabled: Boolean(rpcUrl),
    refetchInterval: EVERY_MS,
  });
  const read = useAsRead(result, queryKey);
  const leadMs = rpcUrl === null ? 0 : read.data;
  return { nowMs: leadMs === undefined ? undefined : now + leadMs, read };
}
