import type { Connection } from '@solana/web3.js';

/** Calls a method of the embedded ledger that other ledgers do not have. */
export async function callLedger(
  connection: Connection,
  method: string,
  params: unknown[],
): Promise<void> {
  const response = await fetch(connection.rpcEndpoint, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
  });
  const { error } = (await response.json()) as { error?: { message: string } };
  if (error) throw new Error(`${method}: ${error.message}`);
}
