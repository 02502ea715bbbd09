import { type PublicKey, SYSVAR_CLOCK_PUBKEY } from '@solana/web3.js';
import {
  fetchAllModels,
  fetchConfig,
  fetchWorker,
  modelText,
  unixSecondsOf,
  workerModels,
} from '../../programs/client/accounts.ts';
import type { Addresses } from '../../programs/client/addresses.ts';
import type { Config, Worker } from '../../programs/client/generated/types.ts';
import type { LedgerConnection } from '../../programs/client/ledgerConnection.ts';
import { associatedTokenAddress } from '../../programs/client/token/instructions.ts';
import { decodeTokenAccount, TOKEN_ACCOUNT } from '../../programs/client/token/layout.ts';
import { SetupError } from './setupError.ts';

const COMMITMENT = { commitment: 'confirmed' } as const;

/** What the ledger has about one worker. */
export interface WorkerState {
  readonly address: PublicKey;
  readonly config: Config;
  /** Null before its registration. */
  readonly worker: Worker | null;
  /** Ids of the catalog's models that take jobs. */
  readonly offered: readonly string[];
  /** Catalog ids that it hosts. */
  readonly hosted: readonly string[];
  /** The ledger's time. */
  readonly unixSeconds: bigint;
}

/** @throws SetupError when the program has no configuration there */
export async function readConfig(
  connection: LedgerConnection,
  addresses: Addresses,
): Promise<Config> {
  const { programId } = addresses;
  const config = await fetchConfig(connection, addresses.config, { ...COMMITMENT, programId });
  if (!config) throw new SetupError(`The program ${programId} is not set up on this ledger.`);
  return config;
}

/** @throws SetupError when the program has no configuration there */
export async function readWorkerState(
  connection: LedgerConnection,
  addresses: Addresses,
  authority: PublicKey,
): Promise<WorkerState> {
  const { programId } = addresses;
  const address = addresses.worker(authority);
  const options = { ...COMMITMENT, programId };
  const [clock, config, worker, models] = await Promise.all([
    connection.getAccountInfo(SYSVAR_CLOCK_PUBKEY, 'confirmed'),
    readConfig(connection, addresses),
    fetchWorker(connection, address, options),
    fetchAllModels(connection, options),
  ]);
  if (!clock) throw new SetupError('The ledger has no Clock.');
  const unixSeconds = unixSecondsOf(clock);
  const catalog = new Map(
    models.map(({ address: model, data }) => [model.toBase58(), modelText(data).id]),
  );
  const offered = models
    .filter(({ data }) => data.retiresAt === 0n || data.retiresAt > unixSeconds)
    .map(({ data }) => modelText(data).id);
  const hosted = worker ? workerModels(worker).map((model) => catalog.get(model.toBase58())) : [];
  return {
    address,
    config,
    worker,
    offered,
    hosted: hosted.filter((id) => id !== undefined),
    unixSeconds,
  };
}

/** A token account of the authority, and what it holds; undefined where it is not there yet. */
export interface TokenBalance {
  readonly address: PublicKey;
  readonly baseUnits: bigint | undefined;
}

export async function readTokenBalance(
  connection: LedgerConnection,
  mint: PublicKey,
  owner: PublicKey,
): Promise<TokenBalance> {
  const address = associatedTokenAddress(mint, owner);
  const found = await connection.getAccountInfo(address, 'confirmed');
  const isAccount = found !== null && found.data.length === TOKEN_ACCOUNT.bytes;
  return { address, baseUnits: isAccount ? decodeTokenAccount(found.data).amount : undefined };
}
