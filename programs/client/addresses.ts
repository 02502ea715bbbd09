import { createHash } from 'node:crypto';
import { PublicKey } from '@solana/web3.js';
import { LRUCache } from 'lru-cache';
import { IDL } from './program.ts';

/** Where the program lives unless a caller names another deployment. */
export const PROGRAM_ID = new PublicKey(IDL.address);

/** Every address that follows from a program id. Seeds are those of `programs/escrow/src/seeds.rs`. */
export interface Addresses {
  readonly programId: PublicKey;
  readonly config: PublicKey;
  readonly treasury: PublicKey;
  /** Owns the three token accounts; signs for nothing else. */
  readonly vaultAuthority: PublicKey;
  /** Holds all stablecoin that backs credits and claims. */
  readonly vault: PublicKey;
  readonly treasuryVault: PublicKey;
  readonly stakeVault: PublicKey;
  /** Signs the program's calls to itself that carry events; signs for nothing else. */
  readonly eventAuthority: PublicKey;
  gateway(operator: PublicKey): PublicKey;
  creditAccount(wallet: PublicKey): PublicKey;
  /** @param modelId the catalog's text id, not an address */
  model(modelId: string): PublicKey;
  worker(authority: PublicKey): PublicKey;
  /** @param jobId the 16 raw bytes of the job's UUID */
  job(creditAccount: PublicKey, jobId: Uint8Array): PublicKey;
}

/** Deployments in use, one or two in any process: deriving an address costs half a millisecond. */
const known = new Map<string, Addresses>();

/** Wallets, workers and models in use: each is asked for again with every job. */
const ADDRESSES_KEPT_MAX = 10_000;

/** The addresses of one deployment of the program. */
export function createAddresses(programId: PublicKey = PROGRAM_ID): Addresses {
  const key = programId.toBase58();
  const addresses = known.get(key) ?? derive(programId);
  known.set(key, addresses);
  return addresses;
}

function derive(programId: PublicKey): Addresses {
  const find = (seed: string, ...rest: Uint8Array[]): PublicKey =>
    PublicKey.findProgramAddressSync([Buffer.from(seed), ...rest], programId)[0];
  const kept = new LRUCache<string, PublicKey>({ max: ADDRESSES_KEPT_MAX });
  const keep = (seed: string, key: Uint8Array): PublicKey => {
    const name = `${seed} ${Buffer.from(key).toString('latin1')}`;
    const address = kept.get(name) ?? find(seed, key);
    kept.set(name, address);
    return address;
  };
  return {
    programId,
    config: find('config'),
    treasury: find('treasury'),
    vaultAuthority: find('vault_authority'),
    vault: find('vault'),
    treasuryVault: find('treasury_vault'),
    stakeVault: find('stake_vault'),
    eventAuthority: find('__event_authority'),
    gateway: (operator) => keep('gateway', operator.toBytes()),
    creditAccount: (wallet) => keep('credit', wallet.toBytes()),
    model: (modelId) => keep('model', createHash('sha256').update(modelId).digest()),
    worker: (authority) => keep('worker', authority.toBytes()),
    job: (creditAccount, jobId) => find('job', creditAccount.toBytes(), jobId),
  };
}
