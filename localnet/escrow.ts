import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { PublicKey } from '@solana/web3.js';
import { ConfigError } from '../common/config.ts';
import { ACCOUNT_VERSION, accountKind } from '../programs/client/accounts.ts';
import { PROGRAM_ID } from '../programs/client/addresses.ts';
import { nameOfBytes } from '../programs/client/platform/bytes.ts';
import type { LocalnetConfig } from './config.ts';
import { PortError } from './rpc/server.ts';
import { type DeployedProgram, UPGRADEABLE_LOADER } from './runtime/deployment.ts';
import { EMPTY_ACCOUNT } from './runtime/runtime.ts';
import {
  type Localnet,
  type LocalnetOptions,
  type StoredAccounts,
  startLocalnet,
} from './start.ts';
import { LedgerFilesError, StorageFullError } from './store/errors.ts';

const ELF_PATH = fileURLToPath(
  new URL('../programs/escrow/artifacts/escrow-v3.so', import.meta.url),
);
/** 100,000 SOL, more than development needs. */
const PAYER_LAMPORTS = 100_000n * 1_000_000_000n;
/** An account of the program begins with its discriminator and the version of its layout. */
const VERSION_OFFSET = 8;

/**
 * A ledger with the escrow program on it.
 *
 * @param options.payer has lamports from the start, and is the program's upgrade authority
 * @param options.folder the ledger's folder, for the error about an old layout
 */
export function withEscrow(options: {
  payer: PublicKey;
  folder?: string | undefined;
}): Required<Pick<LocalnetOptions, 'programs' | 'accounts' | 'checkAccounts'>> {
  const payer = options.payer.toBytes();
  return {
    programs: [programAt(PROGRAM_ID, readFileSync(ELF_PATH), payer)],
    accounts: [[payer, { ...EMPTY_ACCOUNT, lamports: PAYER_LAMPORTS }]],
    checkAccounts: (accounts) => assertLayout(accounts, options.folder),
  };
}

/**
 * The local ledger of these settings, with the escrow program on it.
 *
 * @throws ConfigError when its folder or its ports cannot be used
 */
export function startLocalnetWithEscrow(config: LocalnetConfig): Promise<Localnet> {
  const { LOCALNET_DATA_DIR: folder, LOCALNET_PAYER_KEY: payer } = config;
  return startLocalnet({
    ...withEscrow({ payer: payer.publicKey, folder }),
    folder,
    host: config.LOCALNET_HOST,
    port: config.LOCALNET_PORT,
    profile: config.LOCALNET_PROFILE,
    slotMs: config.LOCALNET_SLOT_MS,
    confirmSlots: config.LOCALNET_CONFIRM_SLOTS,
    unreliable: config.LOCALNET_UNRELIABLE,
    isDevelopment: config.LOCALNET_DEVELOPMENT,
  }).catch((error: unknown) => {
    if (error instanceof LedgerFilesError || error instanceof StorageFullError) {
      throw new ConfigError(`LOCALNET_DATA_DIR: ${error.message}`);
    }
    if (error instanceof PortError) throw new ConfigError(`LOCALNET_PORT: ${error.message}`);
    throw error;
  });
}

/** Opens the ledger and its ports, and closes them. @returns where it would listen */
export async function tryLocalnet(config: LocalnetConfig): Promise<string> {
  const { rpcUrl, close } = await startLocalnetWithEscrow(config);
  await close();
  return config.LOCALNET_PORT === 0 ? `${config.LOCALNET_HOST}, any port` : rpcUrl;
}

/**
 * @param elf its binary
 * @param upgradeAuthority the key that may upgrade it; null: none
 */
export function programAt(
  address: PublicKey,
  elf: Uint8Array,
  upgradeAuthority: Uint8Array | null,
): DeployedProgram {
  const programId = address.toBytes();
  const loader = new PublicKey(UPGRADEABLE_LOADER);
  const [programData] = PublicKey.findProgramAddressSync([programId], loader);
  return { programId, programData: programData.toBytes(), elf, upgradeAuthority };
}

/** @throws LedgerFilesError when accounts of an earlier release have another layout */
function assertLayout(accounts: StoredAccounts, folder: string | undefined): void {
  const programId = nameOfBytes(PROGRAM_ID.toBytes());
  for (const [, { owner, data }] of accounts) {
    if (nameOfBytes(owner) !== programId || accountKind(data) === undefined) continue;
    const version = data[VERSION_OFFSET];
    if (version === ACCOUNT_VERSION) continue;
    throw new LedgerFilesError(
      `The ledger in ${folder} has accounts of layout version ${version}, and this release of ` +
        `the program reads version ${ACCOUNT_VERSION}. Start again: rm -r '${folder}'`,
    );
  }
}
