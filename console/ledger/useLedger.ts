import { connectLedger, connectRpc } from '@svc-inference/client/wallet';
import { useMemo } from 'react';
import { useConfig } from '../data/ledger.ts';

/** The ledger by the node that browsers may ask; undefined where none is set, or not known yet. */
export function useLedger() {
  const config = useConfig();
  return useMemo(() => {
    if (!config?.rpc_url) return undefined;
    const { rpc_url, chain, commitment } = config;
    const rpc = connectRpc({ url: rpc_url });
    return { rpc, connection: connectLedger(rpc), chain, commitment };
  }, [config]);
}
