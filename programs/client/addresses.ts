import { hash } from 'node:crypto';
import { PublicKey } from '@solana/web3.js';
import { LRUCache } from 'lru-cache';
import { IDL } from './codec.ts';
import { lookUp } from './keyCache.ts';
import { isOnCurve } from './keys.ts';

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
  /** The same, or undefined for the half of all ids whose address the program does not take. */
  newJob(creditAccount: PublicKey, jobId: Uint8Array): PublicKey | undefined;
}

const JOB_SEED = Buffer.from('job');
/** What the ledger hashes behind the seeds of every program's address. */
const ADDRESS_MARKER = Buffer.from('ProgramDerivedAddress');
/** The program takes no other bump of a Job, so that checking its address always costs the same. */
const JOB_BUMP = Uint8Array.of(255);

/** Deployments in use, one or two in any process: deriving an address costs half a millisecond. */
const known = new Map<string, Addresses>();
/** The same by the object that names them, whose spelling is dear. */
const knownByKey = new WeakMap<PublicKey, Addresses>();

/** Wallets, workers, models and jobs in use: each is asked for again and again. */
const ADDRESSES_KEPT_MAX = 10_000;

/** The addresses of one deployment of the program. */
export function createAddresses(programId: PublicKey = PROGRAM_ID): Addresses {
  return lookUp(knownByKey, programId, () => findKnown(programId));
}

function findKnown(programId: PublicKey): Addresses {
  return lookUp(known, programId.toBase58(), () => derive(programId));
}

function derive(programId: PublicKey): Addresses {
  const find = (seed: string, ...rest: Uint8Array[]): PublicKey =>
    PublicKey.findProgramAddressSync([Buffer.from(seed), ...rest], programId)[0];
  const kept = new LRUCache<string, PublicKey>({ max: ADDRESSES_KEPT_MAX });
  const keep = <Found extends PublicKey | undefined>(
    seed: string,
    keys: readonly Uint8Array[],
    search: () => Found,
  ): Found | PublicKey => {
    const name = `${seed} ${Buffer.concat(keys).toString('latin1')}`;
    return lookUp(kept, name, search);
  };
  const findKept = (seed: string, ...keys: Uint8Array[]): PublicKey =>
    keep(seed, keys, () => find(seed, ...keys));
  /** As `PublicKey.createProgramAddressSync`, but fast and with no error for half of all ids. */
  const createJob = (...keys: Uint8Array[]): PublicKey | undefined => {
    const seeds = [JOB_SEED, ...keys, JOB_BUMP, programId.toBytes(), ADDRESS_MARKER];
    const address = hash('sha256', Buffer.concat(seeds), 'buffer');
    return isOnCurve(address) ? undefined : new PublicKey(address);
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
    gateway: (operator) => findKept('gateway', operator.toBytes()),
    creditAccount: (wallet) => findKept('credit', wallet.toBytes()),
    model: (modelId) => findKept('model', hash('sha256', modelId, 'buffer')),
    worker: (authority) => findKept('worker', authority.toBytes()),
    job: (creditAccount, jobId) => findKept('job', creditAccount.toBytes(), jobId),
    newJob(creditAccount, jobId) {
      const keys = [creditAccount.toBytes(), jobId];
      return keep('job', keys, () => createJob(...keys));
    },
  };
}
