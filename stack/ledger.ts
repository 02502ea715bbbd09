import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import { Connection, Keypair, PublicKey } from '@solana/web3.js';
import { PROGRAM_ID } from '../programs/client/addresses.ts';
import { endIfBlocked } from './blockedThread.ts';

/** A ledger inside this process: real JSON-RPC and websocket, with the escrow program deployed. */
export interface EmbeddedLedger {
  rpcUrl: string;
  wsUrl: string;
  /** Holds the ledger's lamports and is the program's upgrade authority. */
  payer: Keypair;
  /** Gives an address so many lamports, out of nothing. */
  fundLamports(address: PublicKey, lamports: number): void;
  close(): void;
}

/** The part of the surfpool binding that is used here. */
interface Surfnet {
  rpcUrl: string;
  wsUrl: string;
  payerSecretKey: number[];
  deploy(options: { programId: string; soPath: string }): string;
  setAccount(address: string, lamports: number, data: number[], owner: string): void;
  fundSol(address: string, lamports: number): void;
  drainEvents(): unknown[];
  stop(): void;
}

const PROGRAM_PATH = fileURLToPath(
  new URL('../programs/escrow/artifacts/escrow-v3.so', import.meta.url),
);
/** The shortest slot that leaves a blockhash alive for three seconds. */
const SLOT_TIME_MS = 20;
/** The ledger's faucet gives no more than this at its start. */
const PAYER_LAMPORTS = 100_000 * 1e9;
/**
 * It takes a third of a second. Once in ten thousand starts the ledger draws one port for both of its
 * servers, and waits for ever for the second one.
 */
const START_TIMEOUT_MS = 30_000;
/** The ledger stops when the queue of its events is full, so under load they are taken often. */
const DRAIN_INTERVAL_MS = 50;

const UPGRADEABLE_LOADER = new PublicKey('BPFLoaderUpgradeab1e11111111111111111111111');
/** ProgramData: kind u32, slot u64, then the optional upgrade authority. */
const UPGRADE_AUTHORITY_OFFSET = 12;

/**
 * Starts a ledger that makes a block every 20 ms and whose Clock runs, and deploys the program on
 * it with the payer as its upgrade authority, which `config_initialize` asks for.
 *
 * @param payerKey a new one, unless one is given
 * @throws Error where no build of the ledger exists for this platform
 */
export async function startLedger(payerKey?: Keypair): Promise<EmbeddedLedger> {
  const binding = openBinding();
  const config = {
    offline: true,
    blockProductionMode: 'clock',
    slotTimeMs: SLOT_TIME_MS,
    // Despite its name this is counted in lamports.
    airdropSol: PAYER_LAMPORTS,
    ...(payerKey && { payerSecretKey: [...payerKey.secretKey] }),
  };
  const surfnet = endIfBlocked(() => binding.startWithConfig(config), {
    timeoutMs: START_TIMEOUT_MS,
    words: 'The embedded ledger found its port taken and does not come up: start again.',
  });
  const payer = Keypair.fromSecretKey(Uint8Array.from(surfnet.payerSecretKey));
  surfnet.deploy({ programId: PROGRAM_ID.toBase58(), soPath: PROGRAM_PATH });
  await setUpgradeAuthority(surfnet, payer.publicKey);
  const drain = setInterval(() => surfnet.drainEvents(), DRAIN_INTERVAL_MS).unref();
  return {
    rpcUrl: surfnet.rpcUrl,
    wsUrl: surfnet.wsUrl,
    payer,
    fundLamports: (address, lamports) => surfnet.fundSol(address.toBase58(), lamports),
    close() {
      clearInterval(drain);
      surfnet.stop();
    },
  };
}

function openBinding(): { startWithConfig(config: object): Surfnet } {
  const platform = `${process.platform}-${process.arch}${process.platform === 'linux' ? '-gnu' : ''}`;
  try {
    return createRequire(import.meta.url)(`@solana/surfpool-${platform}`).Surfnet;
  } catch (error) {
    throw new Error(
      `No embedded ledger is built for ${platform}: set SOLANA_RPC_URL to a test validator's address`,
      { cause: error },
    );
  }
}

/** The binding deploys under an authority whose key nobody has. */
async function setUpgradeAuthority(surfnet: Surfnet, authority: PublicKey): Promise<void> {
  const [address] = PublicKey.findProgramAddressSync([PROGRAM_ID.toBytes()], UPGRADEABLE_LOADER);
  const account = await new Connection(surfnet.rpcUrl, 'confirmed').getAccountInfo(address);
  if (!account) throw new Error('the ledger did not keep the deployed program');
  account.data.set([1, ...authority.toBytes()], UPGRADE_AUTHORITY_OFFSET);
  surfnet.setAccount(
    address.toBase58(),
    account.lamports,
    [...account.data],
    account.owner.toBase58(),
  );
}
