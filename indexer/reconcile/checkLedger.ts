import type { Connection } from '@solana/web3.js';
import type pg from 'pg';
import type { Addresses } from '../../programs/client/addresses.ts';
import { assertSameLedger } from '../mirror/bindLedger.ts';
import { selectLedger } from '../statements/ledger.ts';
import { readGenesisHash } from './readLedger.ts';
import { inSnapshot } from './snapshot.ts';

/**
 * Refuses to compare a mirror with another ledger, or another program, than its own: everything
 * would differ, and nothing would be wrong. A mirror that no indexer has kept yet is nobody's.
 *
 * @throws FatalError naming both
 * @throws RetryableError when the ledger does not answer
 */
export async function checkLedger(options: {
  database: pg.Pool;
  connection: Connection;
  addresses: Addresses;
}): Promise<void> {
  const { database, connection, addresses } = options;
  const bound = await inSnapshot(database, selectLedger);
  if (!bound) return;
  const genesisHash = await readGenesisHash(connection);
  assertSameLedger(bound, { genesisHash, programId: addresses.programId.toBase58() });
}
