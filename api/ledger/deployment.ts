import {
  type AccountInfo,
  type Keypair,
  type PublicKey,
  SYSVAR_RENT_PUBKEY,
} from '@solana/web3.js';
import type { Commitment } from '../../common/net/commitment.ts';
import { decodeAccount, gatewaySigners } from '../../programs/client/accounts.ts';
import type { Addresses } from '../../programs/client/addresses.ts';
import { accountSize } from '../../programs/client/codec.ts';
import type { LedgerConnection } from '../../programs/client/ledgerConnection.ts';

/** What this process needs on the ledger before it can lock anything. */
interface DeploymentOptions {
  connection: Pick<LedgerConnection, 'getMultipleAccountsInfoAndContext'>;
  commitment: Commitment;
  addresses: Addresses;
  gateway: PublicKey;
  signer: Pick<Keypair, 'publicKey'>;
  /** The signer, and those that pay when it cannot. */
  feePayers: readonly PublicKey[];
}

type Part = 'program' | 'gateway' | 'signer' | 'fee_payers';

/** What is wrong with a part of the deployment. */
export interface DeploymentFault {
  part: Part;
  /** One sentence that names the setting. */
  message: string;
  /** Whether only other settings, or another ledger, can mend it. */
  isMisconfigured: boolean;
}

/**
 * With less, 0.05 SOL, a hot signer locks nothing unless others pay: what is left settles open jobs.
 */
export const RESERVE_LAMPORTS = 50_000_000;
/** The fees of a job's transactions: 15,000 lamports at most, and what they pay for priority. */
const JOB_FEES_LAMPORTS = 1_000_000;

/**
 * Reads all of it in one request.
 *
 * @returns what is wrong, the most basic first; none when this process can lock
 * @throws when the node does not answer
 */
export async function findDeploymentFaults(options: DeploymentOptions): Promise<DeploymentFault[]> {
  const { connection, commitment, addresses, gateway, signer, feePayers } = options;
  const { programId } = addresses;
  const { value } = await connection.getMultipleAccountsInfoAndContext(
    [SYSVAR_RENT_PUBKEY, programId, addresses.config, gateway, ...feePayers],
    { commitment },
  );
  const [rent, program, config, gatewayAccount, ...payers] = value;
  const faults: DeploymentFault[] = [];
  const misconfigured = (part: Part, message: string): void =>
    void faults.push({ part, message, isMisconfigured: true });

  if (!program?.executable) {
    misconfigured('program', `SVC_PROGRAM_ID ${programId} is no program on this ledger`);
  } else if (!config?.owner.equals(programId)) {
    misconfigured('program', `The program SVC_PROGRAM_ID ${programId} was never initialized`);
  }
  const account = gatewayAccount?.owner.equals(programId)
    ? decodeAccount(gatewayAccount.data)
    : undefined;
  if (account?.name !== 'Gateway') {
    misconfigured('gateway', `SVC_GATEWAY ${gateway} is no Gateway of the program ${programId}`);
  } else if (!gatewaySigners(account.data).some((key) => key.equals(signer.publicKey))) {
    const named = `SVC_SIGNER_KEY ${signer.publicKey} is no signer of the Gateway ${gateway}`;
    misconfigured('signer', named);
  } else if (account.data.stopped) {
    const message = `The Gateway ${gateway} is stopped by its operator`;
    faults.push({ part: 'gateway', message, isMisconfigured: false });
  }
  const [own = 0, ...others] = payers.map((payer) => payer?.lamports ?? 0);
  const needed = rentLamports(rent, accountSize('Job')) + JOB_FEES_LAMPORTS;
  if (own < RESERVE_LAMPORTS && !others.some((lamports) => lamports >= needed)) {
    const named = `SVC_SIGNER_KEY ${signer.publicKey} has less than 0.05 SOL`;
    const message =
      others.length === 0
        ? named
        : `${named}, and each of SVC_FEE_PAYER_KEYS less than ${needed} lamports`;
    faults.push({ part: 'fee_payers', message, isMisconfigured: false });
  }
  return faults;
}

/** What every account costs besides its data. */
const ACCOUNT_OVERHEAD_BYTES = 128;

/**
 * What the ledger asks for an account of so many bytes, by its Rent. Rate and threshold are
 * multiplied, because ledgers differ in how they split the two.
 */
function rentLamports(rent: AccountInfo<Uint8Array> | null | undefined, dataBytes: number): number {
  if (!rent) throw new Error(`The node knows no Rent at ${SYSVAR_RENT_PUBKEY}`);
  const { buffer, byteOffset, byteLength } = rent.data;
  const fields = new DataView(buffer, byteOffset, byteLength);
  const perByte = Number(fields.getBigUint64(0, true)) * fields.getFloat64(8, true);
  return (ACCOUNT_OVERHEAD_BYTES + dataBytes) * perByte;
}
