import type { Connection } from '@solana/web3.js';
import { fetchAllJobs } from '../../programs/client/accounts.ts';
import { delay } from '../../runtime/wait.ts';

/** Past the timeout of two minutes and the dispute window of one. */
const AHEAD_MS = 200_000;
/** The embedded ledger takes longer for each transaction the more jobs there are. */
const WAIT_MS_MAX = 300_000;
const POLL_MS = 250;

/** Moves the embedded ledger's clock to where every job may be closed, and waits for the keeper. */
export async function closeJobs(connection: Connection): Promise<void> {
  const response = await fetch(connection.rpcEndpoint, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({
      ...{ jsonrpc: '2.0', id: 1, method: 'surfnet_timeTravel' },
      params: [{ absoluteTimestamp: Date.now() + AHEAD_MS }],
    }),
  });
  const { error } = (await response.json()) as { error?: { message: string } };
  if (error) throw new Error(`the ledger refused to move its clock: ${error.message}`);
  const deadline = performance.now() + WAIT_MS_MAX;
  while ((await fetchAllJobs(connection, { commitment: 'confirmed' })).length > 0) {
    if (performance.now() > deadline) throw new Error('The keeper does not close the jobs');
    await delay(POLL_MS);
  }
}
