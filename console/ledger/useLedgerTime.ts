import { useQuery } from '@tanstack/react-query';
import { PublicKey, unixSecondsOf } from 'svc-client/wallet';
import { useNow } from '../design/time.tsx';
import { useLedger } from './useLedger.ts';

const CLOCK = 'SysvarC1ock11111111111111111111111111111111';
const EVERY_MS = 10_000;

/** The ledger's time in Unix milliseconds, which deadlines are judged by; undefined until it is known. */
export function useLedgerTime(): number | undefined {
  const ledger = useLedger();
  const now = useNow();
  const { data: leadMs } = useQuery({
    queryKey: ['ledger time', ledger?.chain],
    queryFn: async () => {
      const clock = await ledger?.connection.getAccountInfo(new PublicKey(CLOCK), 'confirmed');
      if (!clock) throw new Error('The node shows no clock.');
      return Number(unixSecondsOf(clock)) * 1_000 - Date.now();
    },
    enabled: ledger !== undefined,
    refetchInterval: EVERY_MS,
  });
  return leadMs === undefined ? undefined : now + leadMs;
}
