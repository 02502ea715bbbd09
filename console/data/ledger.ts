import { useRead } from './queries.ts';

/** The settings of this deployment for the pages. They do not change while a page is open. */
export function useConfig() {
  return useRead('/config').data;
}

/** Makes links to an explorer; undefined where none shows this ledger. */
export function useExplorer() {
  const config = useConfig();
  return {
    transaction: (signature: string) => explorerLink(config, 'tx', signature),
    address: (address: string) => explorerLink(config, 'address', address),
  };
}

const KEYS = ['rpc', 'program', 'wallet'] as const;

/** The page that verifies a job without the service. Its input stands behind the `#`. */
export function verifyLink(
  job: string,
  facts: { readonly [Key in (typeof KEYS)[number]]?: string | null | undefined },
): string {
  const known = new URLSearchParams();
  for (const key of KEYS) if (facts[key]) known.set(key, facts[key]);
  return `/verify/${encodeURIComponent(job)}${known.size > 0 ? `#${known}` : ''}`;
}

/** An explorer's page of a transaction or address. For a local ledger, the explorer asks its node. */
export function explorerLink(
  ledger: { readonly chain: string; readonly rpc_url: string | null } | undefined,
  kind: 'tx' | 'address',
  name: string,
): string | undefined {
  if (ledger === undefined) return undefined;
  const url = new URL(`https://explorer.solana.com/${kind}/${encodeURIComponent(name)}`);
  const cluster = ledger.chain.replace(/^solana:/, '');
  if (cluster === 'devnet' || cluster === 'testnet') url.searchParams.set('cluster', cluster);
  else if (cluster !== 'mainnet') {
    if (ledger.rpc_url === null) return undefined;
    url.searchParams.set('cluster', 'custom');
    url.searchParams.set('customUrl', ledger.rpc_url);
  }
  return url.href;
}
