import { useQuery } from '@tanstack/react-query';
import { useConfig } from '../data/ledger.ts';
import { useNow } from '../design/time.tsx';

const EVERY_MS = 10_000;

/** The ledger's time in Unix milliseconds, which deadlines are judged by; undefined until it is known. */
export function useLedgerTime(): number | undefined {
  const rpcUrl = useConfig()?.rpc_url;
  const now = useNow();
  const { data: leadMs } = useQuery({
    queryKey: ['ledger time', rpcUrl],
    queryFn: async () => {
      if (!rpcUrl) throw new Error('There is no node to ask.');
      // The ledger's code comes behind the page, which does without until then.
      const { readLeadMs } = await import('./clock.ts');
      return readLeadMs(rpcUrl);
    },
    enabled: Boolean(rpcUrl),
    refetchInterval: EVERY_MS,
  });
  return leadMs === undefined ? undefined : now + leadMs;
}
