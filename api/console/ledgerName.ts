import type { Database } from '../../common/postgres.ts';
import { selectGenesisHash } from '../sql/sessions.ts';

/** The public clusters by the beginnings of their genesis hashes, which name chains everywhere. */
const CLUSTERS: Readonly<Record<string, string>> = {
  '5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp': 'mainnet',
  EtWTRABZaYq6iMfeYKouRu166VU2xqa1: 'devnet',
  '4uhcVJyU9pJkvQyS88uRDiswHXSGkY9z': 'testnet',
};
const NAME_LENGTH = 32;

/** What wallets call a ledger, by its genesis hash. */
export function chainOf(genesisHash: string | null): string {
  const cluster = CLUSTERS[genesisHash?.slice(0, NAME_LENGTH) ?? ''];
  return `solana:${cluster ?? 'localnet'}`;
}

/** Reads the genesis hash of the mirror's ledger, until it is known. */
export function createGenesisHash(database: Database): () => Promise<string | null> {
  let known: string | undefined;
  return async () => {
    known ??= await selectGenesisHash(database);
    return known ?? null;
  };
}
