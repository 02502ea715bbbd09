import { connectLedger, connectRpc, requestFrom } from '@svc-inference/client/wallet';
import { useMemo } from 'react';
import { useConfig } from '../data/ledger.ts';

/** The ledger by the node that browsers may ask; undefined where none is set, or not known yet. */
export function useLedger() {
  const config = useConfig();
  return useMemo(() => {
    if (!config?.rpc_url) return undefined;
    const { rpc_url, chain, commitment } = config;
    return {
      rpc: connectRpc({ url: rpc_url }),
      connection: connectLedger(requestFrom(rpc_url)),
      chain,
      commitment,
    };
  }, [config]);
}
