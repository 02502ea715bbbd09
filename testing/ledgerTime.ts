import { type Connection, SYSVAR_CLOCK_PUBKEY } from '@solana/web3.js';
import { unixSecondsOf } from '../programs/client/clockAccount.ts';
import { callLedger } from '../stack/ledgerCall.ts';

/** The ledger's Clock, in Unix seconds. */
export async function readClockSeconds(connection: Connection): Promise<bigint> {
  const clock = await connection.getAccountInfo(SYSVAR_CLOCK_PUBKEY, 'confirmed');
  if (clock === null) throw new Error('the ledger has no Clock');
  return unixSecondsOf(clock);
}

/** Moves an embedded ledger's Clock ahead; from there it runs on. Blockhashes from before are dead. */
export async function setClockSeconds(connection: Connection, unixSeconds: bigint): Promise<void> {
  await callLedger(connection.rpcEndpoint, 'surfnet_timeTravel', [
    { absoluteTimestamp: Number(unixSeconds) * 1_000 },
  ]);
  while ((await readClockSeconds(connection)) < unixSeconds);
}
