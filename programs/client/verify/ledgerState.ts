import { type Connection, SYSVAR_CLOCK_PUBKEY } from '@solana/web3.js';
import { unixSecondsOf } from '../clockAccount.ts';

/** What the service itself acts on. */
export const COMMITMENT = 'confirmed';

/** The ledger's Clock, in Unix seconds. */
export async function readClock(connection: Connection): Promise<bigint> {
  const clock = await connection.getAccountInfo(SYSVAR_CLOCK_PUBKEY, COMMITMENT);
  return unixTimeOf(clock);
}

/** @param clock the account of the ledger's Clock */
export function unixTimeOf(clock: { readonly data: Buffer } | null | undefined): bigint {
  if (!clock) throw new Error('it shows no Clock');
  return unixSecondsOf(clock);
}
