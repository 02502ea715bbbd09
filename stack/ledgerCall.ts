/**
 * Asks the embedded ledger itself, without the Solana library: loading that takes as long as the
 * ledger's start.
 *
 * @throws Error with the ledger's words when it refuses
 */
export async function callLedger<Result>(
  rpcUrl: string,
  method: string,
  params: unknown[],
): Promise<Result> {
  const response = await fetch(rpcUrl, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
  });
  const { error, result } = (await response.json()) as {
    error?: { message: string };
    result: Result;
  };
  if (error) throw new Error(`${method}: ${error.message}`);
  return result;
}
