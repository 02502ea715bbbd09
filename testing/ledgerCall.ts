import { type Connection, type PublicKey, SYSVAR_CLOCK_PUBKEY } from '@solana/web3.js';
import { unixSecondsOf } from '../programs/client/accounts.ts';

/**
 * Asks a ledger's node.
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

/** Writes an account of a local ledger; fields that are left out stay as they are. */
export async function writeAccount(
  rpcUrl: string,
  address: PublicKey,
  fields: { lamports?: number; data?: Uint8Array; owner?: PublicKey; executable?: boolean },
): Promise<void> {
  const { data, owner, ...rest } = fields;
  await callLedger(rpcUrl, 'localnet_setAccount', [
    address.toBase58(),
    {
      ...rest,
      ...(data && { data: Buffer.from(data).toString('base64') }),
      ...(owner && { owner: owner.toBase58() }),
    },
  ]);
}

/** A ledger's Clock, in Unix seconds. */
export async function readClockSeconds(connection: Connection): Promise<bigint> {
  const clock = await connection.getAccountInfo(SYSVAR_CLOCK_PUBKEY, 'confirmed');
  if (clock === null) throw new Error('the ledger has no Clock');
  return unixSecondsOf(clock);
}

/** Lets time pass on a local ledger: its Clock moves, slots pass, and blockhashes die. */
export async function advanceSeconds(connection: Connection, seconds: number): Promise<void> {
  await callLedger(connection.rpcEndpoint, 'localnet_advanceTime', [seconds * 1_000]);
}

/** Moves a local ledger's Clock; from there it runs on. Slots and blockhashes stay as they are. */
export async function setClockSeconds(connection: Connection, unixSeconds: bigint): Promise<void> {
  const unixMs = Number(unixSeconds) * 1_000;
  await callLedger(connection.rpcEndpoint, 'localnet_setClock', [{ unixMs }]);
}
