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
