import { type ChildProcess, spawn } from 'node:child_process';
import { extname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Keypair, type PublicKey } from '@solana/web3.js';
import bs58 from 'bs58';
import { expectBinding } from './ledgerBinding.ts';
import { callLedger } from './ledgerCall.ts';
import { startLedgerProcess } from './ledgerProcess.ts';
import { environmentFor, PARTS } from './parts.ts';

/** A ledger beside this process: real JSON-RPC and websocket, with the escrow program deployed. */
export interface EmbeddedLedger {
  rpcUrl: string;
  wsUrl: string;
  /** Holds the ledger's lamports and is the program's upgrade authority. */
  payer: Keypair;
  /** Leaves an address with so many lamports, out of nothing. */
  fundLamports(address: PublicKey, lamports: number): Promise<void>;
  /** Ends it at once, with all that it holds. */
  close(): Promise<void>;
}

/** A third of a second is enough, but not on a machine that has more to do than it can. */
const START_TIMEOUT_MS = 30_000;

/** Beside this module, in the language that this module is in: a package has no TypeScript. */
const LEDGER_MAIN = fileURLToPath(
  new URL(`../${PARTS.ledger.script.replace(/\.ts$/, extname(import.meta.url))}`, import.meta.url),
);

/** The shortest slot that leaves a blockhash alive for three seconds. */
const SLOT_TIME_MS = 20;

/**
 * Starts a ledger whose Clock runs, and deploys the program on it with the payer as its upgrade
 * authority, which `config_initialize` asks for. It ends with this process, and does not keep this
 * process from ending.
 *
 * @param options.payer a new one, unless one is given
 * @param options.slotTimeMs between two blocks, 20 unless told; a cluster's are some 400 apart
 * @param options.onDeath called when the ledger ends unasked later; by default that is told on
 *   standard error
 * @throws Error where no build of the ledger exists for this platform, or with its last words when
 *   it does not come up
 */
export async function startLedger(
  options: {
    payer?: Keypair | undefined;
    slotTimeMs?: number;
    onDeath?: (error: Error) => void;
  } = {},
): Promise<EmbeddedLedger> {
  const { payer = Keypair.generate(), slotTimeMs = SLOT_TIME_MS, onDeath = tellDeath } = options;
  expectBinding();
  const { rpcUrl, wsUrl, close } = await startLedgerProcess({
    spawnLedger: () => spawnLedger(payer, slotTimeMs),
    timeoutMs: START_TIMEOUT_MS,
    onDeath,
  });
  return {
    ...{ rpcUrl, wsUrl, payer, close },
    fundLamports: (address, lamports) =>
      callLedger(rpcUrl, 'surfnet_setAccount', [address.toBase58(), { lamports }]),
  };
}

function spawnLedger({ secretKey }: Keypair, slotTimeMs: number): ChildProcess {
  return spawn(process.execPath, [LEDGER_MAIN], {
    env: {
      ...environmentFor(PARTS.ledger, process.env),
      SVC_PARENT_PID: `${process.pid}`,
      SVC_LEDGER_PAYER_KEY: bs58.encode(secretKey),
      SVC_LEDGER_SLOT_TIME_MS: `${slotTimeMs}`,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
    // A group of its own: Ctrl-C reaches whoever uses the ledger alone, and he needs it to the end.
    detached: true,
  });
}

function tellDeath({ message }: Error): void {
  process.stderr.write(`${message}\n`);
}
