import { type Connection, type PublicKey, SystemProgram } from '@solana/web3.js';
import { decodeAccount } from '../../accounts.ts';
import type { Addresses } from '../../addresses.ts';
import { COMMITMENT } from '../ledgerState.ts';
import type { JobAccount } from './evidence.ts';

/** What lies at a job's address, and the slot as of which the node says so. */
export async function readJobAccount(options: {
  connection: Connection;
  addresses: Addresses;
  job: PublicKey;
}): Promise<{ account: JobAccount; slot: bigint }> {
  const { connection, addresses, job } = options;
  const { context, value } = await connection.getAccountInfoAndContext(job, COMMITMENT);
  return { account: judge(value, addresses.programId), slot: BigInt(context.slot) };
}

function judge(
  found: { owner: PublicKey; data: Uint8Array } | null,
  programId: PublicKey,
): JobAccount {
  // After the closing anybody can send lamports there.
  if (!found || (found.owner.equals(SystemProgram.programId) && found.data.length === 0)) {
    return { kind: 'none' };
  }
  if (!found.owner.equals(programId)) return { kind: 'foreign', owner: found.owner };
  try {
    const { name, data } = decodeAccount(found.data);
    if (name === 'Job') return { kind: 'job', data };
    return { kind: 'unreadable', reason: `The account is a ${name}, not a job.` };
  } catch (error) {
    return { kind: 'unreadable', reason: `${(error as Error).message}.` };
  }
}
