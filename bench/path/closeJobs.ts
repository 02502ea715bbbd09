import type { Connection } from '@solana/web3.js';
import { delay } from '../../common/wait.ts';
import { fetchAllJobs } from '../../programs/client/accounts.ts';
import { readClockSeconds, setClockSeconds } from '../../testing/ledger/ledger.ts';

/** Longer than the timeout of two minutes and the dispute window of one. */
const AHEAD_SECONDS = 200n;
const WAIT_MS_MAX = 300_000;
const POLL_MS = 250;

/** Advances the local ledger's clock until every job may be closed, and waits for the keeper. */
export async function closeJobs(connection: Connection): Promise<void> {
  await setClockSeconds(connection, (await readClockSeconds(connection)) + AHEAD_SECONDS);
  const deadline = performance.now() + WAIT_MS_MAX;
  while ((await fetchAllJobs(connection, { commitment: 'confirmed' })).length > 0) {
    if (performance.now() > deadline) throw new Error('The keeper does not close the jobs');
    await delay(POLL_MS);
  }
}
