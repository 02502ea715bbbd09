import { FatalError } from '../source/errors.ts';
import type { LedgerSource } from '../source/source.ts';
import { type BoundLedger, insertLedger, selectLedger } from '../sql/progress.ts';
import type { MirrorContext } from './progress.ts';

/**
 * Makes the database this ledger's own for good, also where it was restored without its mirror. Cursors
 * of one ledger mean nothing on another, so everything before them would be left out without a word.
 *
 * @throws FatalError when it is the database of another ledger, or of another program
 */
export async function bindLedger({
  database,
  source,
  addresses,
}: Pick<MirrorContext, 'database' | 'addresses'> & {
  source: Pick<LedgerSource, 'genesisHash'>;
}): Promise<void> {
  const found = {
    genesisHash: await source.genesisHash(),
    programId: addresses.programId.toBase58(),
  };
  await insertLedger(database, found);
  const bound = await selectLedger(database);
  assertSameLedger(bound, found);
}

/** @throws FatalError when the database is that of another ledger, or of another program */
export function assertSameLedger(bound: BoundLedger | undefined, found: BoundLedger): void {
  if (bound?.genesisHash === found.genesisHash && bound.programId === found.programId) return;
  throw new FatalError(
    `DATABASE_URL names the database of program ${bound?.programId} on the ledger with genesis hash ` +
      `${bound?.genesisHash}, but SOLANA_RPC_URL and SVC_PROGRAM_ID name program ` +
      `${found.programId} on ${found.genesisHash}: each needs its own database`,
  );
}
