import { createBank } from './bank/bank.ts';
import { openFaucet } from './bank/faucet.ts';
import { FINALITY_SLOTS } from './bank/recentBlocks.ts';
import { createBlockhashes } from './bank/sysvars.ts';
import { type RpcServer, startRpcServer } from './rpc/server.ts';
import { type DeployedProgram, deployProgram } from './runtime/deployment.ts';
import { type Account, createRuntime } from './runtime/runtime.ts';
import { createTimeline, type Timeline } from './runtime/timeline.ts';
import { StorageFullError } from './store/errors.ts';
import { openStore, type Store } from './store/store.ts';

export interface LocalnetOptions {
  readonly host?: string;
  /** Of JSON-RPC; the websocket has the next one. 0, the default: any pair that is free. */
  readonly port?: number;
  /** Where the ledger is kept between starts; without it, nothing is. */
  readonly folder?: string | undefined;
  readonly slotMs?: number;
  /** How many slots after its own a block is confirmed; 0: as soon as it is closed. */
  readonly confirmSlots?: number;
  /** Whether accounts may be written and the Clock moved, by methods that no cluster has. */
  readonly isDevelopment?: boolean;
  /** Programs besides the system's and the token programs. */
  readonly programs?: readonly DeployedProgram[];
  /** Accounts that a new ledger begins with. */
  readonly genesis?: Iterable<readonly [address: Uint8Array, account: Account]>;
  /** Looks at what was kept before anything runs on it. @throws Error to refuse it */
  readonly checkAccounts?: (accounts: KeptAccounts) => void;
  /** Given the files once they are open: tests take their room away. */
  readonly onStoreOpen?: (store: Pick<Store, 'limitPages'>) => void;
  /** Told of an error after which the ledger must end. */
  readonly onFault?: (error: Error) => void;
}

export type KeptAccounts = Iterable<readonly [address: Uint8Array, account: Account]>;

/** A running ledger. */
export interface Localnet extends Pick<RpcServer, 'rpcUrl' | 'wsUrl'> {
  readonly genesisHash: string;
  close(): Promise<void>;
}

/** The shortest that costs nothing: see docs/localnet.md for what was measured. */
export const SLOT_MS = 5;

/** Taken once: a test that moves its own clock, in the same process, must not stop the ledger's. */
const monotoneNowMs = performance.now.bind(performance);

/**
 * Starts a local ledger: Solana's runtime with JSON-RPC and websocket in front of it, in this
 * process. One node, for development and tests.
 *
 * @throws LedgerFilesError when the folder cannot be used; Error naming a port that is taken
 */
export async function startLocalnet(options: LocalnetOptions = {}): Promise<Localnet> {
  const { host = '127.0.0.1', port = 0, slotMs = SLOT_MS, confirmSlots = 0 } = options;
  const { programs = [], genesis = [], onFault = rethrow } = options;
  const store = openStore(options.folder);
  options.onStoreOpen?.(store);
  try {
    const isNew = store.anchors.length === 0;
    const runtime = createRuntime();
    if (!isNew) options.checkAccounts?.(store.accounts());
    for (const [address, account] of orderForLoading([...store.accounts()])) {
      runtime.setAccount(address, account);
    }
    const timeline = createTimeline({
      ...{ slotMs, anchors: store.anchors, slotFloor: store.lastSlot },
      wallMs: Date.now,
      monotoneMs: monotoneNowMs,
    });
    store.keepAnchor(timeline.start);
    const blockhashes = createBlockhashes(store.seed, slotMs);
    const bank = createBank({ runtime, store, timeline, blockhashes, confirmSlots });
    // Kept with the others, so that whoever replaces a program later finds his own again.
    if (isNew) await bank.writeAccounts(genesis);
    for (const program of programs) {
      if (runtime.account(program.programId) === null) deployProgram(runtime, program);
    }
    const faucet = await openFaucet(bank, store.seed);
    // What was there before anybody asks is final, as a cluster's first accounts are.
    store.keepAnchor(timeline.skipSlots(FINALITY_SLOTS + 1));
    const genesisHash = blockhashes.textAt(0);
    const isDevelopment = options.isDevelopment ?? false;
    const server = await startRpcServer(
      { bank, faucet, genesisHash, isDevelopment },
      { host, port, onFault },
    );
    return {
      ...{ rpcUrl: server.rpcUrl, wsUrl: server.wsUrl, genesisHash },
      async close() {
        await server.close();
        await bank.close();
        keepTime(store, timeline);
        store.close();
      },
    };
  } catch (error) {
    store.close();
    throw error;
  }
}

/** A program is loaded when its account appears, which must be after its binary. */
function orderForLoading<Entry extends readonly [unknown, Account]>(entries: Entry[]): Entry[] {
  return [
    ...entries.filter(([, { executable }]) => !executable),
    ...entries.filter(([, { executable }]) => executable),
  ];
}

/** The slots that passed in silence count too. On a full disk the last that was kept has to do. */
function keepTime(store: Store, timeline: Timeline): void {
  try {
    store.keepAnchor(timeline.mark());
  } catch (error) {
    if (!(error instanceof StorageFullError)) throw error;
  }
}

function rethrow(error: Error): never {
  throw error;
}
