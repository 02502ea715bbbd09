import { createBank } from './bank/bank.ts';
import type { Lags } from './bank/chain.ts';
import { openFaucet } from './bank/faucet.ts';
import { createUnreliableMood, RELIABLE } from './bank/mood.ts';
import { createBlockhashes } from './bank/sysvars.ts';
import { PROFILES, type Profile, type ProfileName } from './profile.ts';
import { startRpcServer } from './rpc/server.ts';
import { type DeployedProgram, deployProgram } from './runtime/deployment.ts';
import {
  type Account,
  AccountRefusedError,
  createRuntime,
  type Runtime,
} from './runtime/runtime.ts';
import { createTimeline, type Timeline } from './runtime/timeline.ts';
import { StorageFullError } from './store/errors.ts';
import { openStore, type Store } from './store/store.ts';
import { addressText } from './wire/text.ts';

export interface LocalnetOptions {
  readonly host?: string;
  /** The port of JSON-RPC; the websocket uses the next one. 0, the default: any free pair. */
  readonly port?: number;
  /** The folder that keeps the ledger between starts; without it the ledger is temporary. */
  readonly folder?: string | undefined;
  /** How it keeps time, what it charges and what its blocks take; `development` by default. */
  readonly profile?: ProfileName | undefined;
  /** Another slot time than the profile's. */
  readonly slotMs?: number | undefined;
  /** In development, how long a blockhash is valid at least: a minute by default. */
  readonly blockhashMs?: number | undefined;
  /** In development, how many slots after its own a block is confirmed; 0: as soon as it is closed. */
  readonly confirmSlots?: number | undefined;
  /** Does what clusters may do, drawn by this seed: slots pass without blocks, sends are lost. */
  readonly unreliable?: number | undefined;
  /** Enables methods that no cluster has: they write accounts and move the Clock. */
  readonly isDevelopment?: boolean;
  /** Programs besides the system's and the token programs. */
  readonly programs?: readonly DeployedProgram[];
  /** Accounts that the ledger gets at its start, where it has none at their address. */
  readonly accounts?: readonly (readonly [address: Uint8Array, account: Account])[];
  /** Checks the stored accounts before the ledger starts. @throws Error to refuse them */
  readonly checkAccounts?: (accounts: StoredAccounts) => void;
  /** Called with the open files: tests limit their size. */
  readonly onStoreOpen?: (store: Pick<Store, 'limitPages'>) => void;
  /** Called with a fatal error. */
  readonly onFault?: (error: Error) => void;
}

export type StoredAccounts = Iterable<readonly [address: Uint8Array, account: Account]>;

/** A running ledger. */
export type Localnet = Awaited<ReturnType<typeof startLocalnet>>;

/** Time to read for those who sign by hand. */
const BLOCKHASH_MS = 60_000;
/** Without Alpenglow a block is final after this many slots. */
export const FINALITY_SLOTS = 32;
/** Without Alpenglow a blockhash is valid for as many slots, and is older when a client gets it. */
const BLOCKHASH_SLOTS = 150;

/** Bound once, so that a test's mocked clock in the same process does not stop the ledger's. */
const monotoneNowMs = performance.now.bind(performance);

/**
 * Starts a local ledger in this process: Solana's runtime with JSON-RPC and websocket. It is a single
 * node, for development and tests.
 *
 * @throws LedgerFilesError when the folder cannot be used; AccountRefusedError naming a broken program;
 *   Error with the name of an occupied port
 */
export async function startLocalnet(options: LocalnetOptions = {}) {
  const profile = PROFILES[options.profile ?? 'development'];
  const { host = '127.0.0.1', port = 0 } = options;
  const { programs = [], onFault = rethrow } = options;
  const store = openStore(options.folder);
  options.onStoreOpen?.(store);
  try {
    if (store.anchors.length > 0) options.checkAccounts?.(store.accounts());
    const { runtime, timeline, mood, blockhashes, bank } = openBank(store, options);
    /** A block that no slot has to pass for, however long the slots are. */
    const atOnce = <Result>(written: Promise<Result>): Promise<Result> => {
      bank.skipSlots(2);
      return written;
    };
    // Programs are stored like other accounts, so that an upgraded program survives a restart.
    const { accounts = [] } = options;
    const absent = accounts.filter(([address]) => runtime.account(address) === null);
    if (absent.length > 0) await atOnce(bank.writeAccounts(orderForLoading(absent)));
    for (const program of programs) {
      if (runtime.account(program.programId) === null) deploy(runtime, program);
    }
    const faucet = await atOnce(openFaucet(bank, store.seed));
    // The first accounts are final before the first request, as on clusters.
    bank.skipSlots(FINALITY_SLOTS + 1);
    // In a slot without a block the first transaction would wait for the next, however long slots are.
    if (mood.isSkipped(timeline.slotNow())) bank.skipSlots(1);
    const genesisHash = blockhashes.textAt(0);
    const isDevelopment = options.isDevelopment ?? false;
    const isAlpenglow = profile.finalMs !== undefined;
    const server = await startRpcServer(
      { bank, faucet, genesisHash, isDevelopment, isAlpenglow },
      { host, port, onFault },
    );
    return {
      rpcUrl: server.rpcUrl,
      wsUrl: server.wsUrl,
      genesisHash,
      async close(): Promise<void> {
        await server.close();
        await bank.close();
        storeTime(store, timeline);
        store.close();
      },
    };
  } catch (error) {
    store.close();
    throw error;
  }
}

/** The bank of a store, at the time that the store has reached. */
function openBank(store: Store, options: LocalnetOptions) {
  const profile = PROFILES[options.profile ?? 'development'];
  const { slotMs = profile.slotMs, unreliable: seed } = options;
  const runtime = createRuntime(profile);
  for (const [address, account] of orderForLoading([...store.accounts()])) {
    runtime.setAccount(address, account);
  }
  const timeline = createTimeline({
    slotMs,
    anchors: store.anchors,
    slotFloor: store.lastSlot,
    wallMs: Date.now,
    monotoneMs: monotoneNowMs,
  });
  store.storeAnchor(timeline.start);
  const mood = seed === undefined ? RELIABLE : createUnreliableMood(seed);
  const windowSlots = blockhashSlots(profile, slotMs, options);
  const blockhashes = createBlockhashes(store.seed, windowSlots, mood.heightOf);
  const lagsMs = lagsOf(profile, slotMs, options);
  const { limits, takesUnpaid } = profile;
  const parts = { runtime, store, timeline, blockhashes, lagsMs, limits, takesUnpaid, mood };
  return { runtime, timeline, mood, blockhashes, bank: createBank(parts) };
}

function lagsOf({ finalMs }: Profile, slotMs: number, { confirmSlots = 0 }: LocalnetOptions): Lags {
  if (finalMs !== undefined) return { confirmed: finalMs, finalized: finalMs };
  const confirmed = confirmSlots * slotMs;
  return { confirmed, finalized: Math.max(confirmed, FINALITY_SLOTS * slotMs) };
}

/** The slots after its own for which a blockhash is valid. */
function blockhashSlots(
  profile: Profile,
  slotMs: number,
  { blockhashMs = BLOCKHASH_MS }: LocalnetOptions,
): number {
  if (profile.blockhashSlots !== undefined) return profile.blockhashSlots;
  return Math.max(BLOCKHASH_SLOTS, Math.ceil(blockhashMs / slotMs)) + FINALITY_SLOTS;
}

/** LiteSVM loads a program when its account appears, so its binary must come first. */
function orderForLoading<Entry extends readonly [unknown, Account]>(
  entries: readonly Entry[],
): Entry[] {
  return [
    ...entries.filter(([, { executable }]) => !executable),
    ...entries.filter(([, { executable }]) => executable),
  ];
}

/** @throws AccountRefusedError naming the program */
function deploy(runtime: Runtime, program: DeployedProgram): void {
  try {
    deployProgram(runtime, program);
  } catch (cause) {
    if (!(cause instanceof AccountRefusedError)) throw cause;
    const address = addressText(program.programId);
    const message = `The program ${address} cannot be loaded: ${cause.message}`;
    throw new AccountRefusedError(message, { cause });
  }
}

/** Idle slots count, too. On a full disk the last stored anchor has to suffice. */
function storeTime(store: Store, timeline: Timeline): void {
  try {
    store.storeAnchor(timeline.anchorNow());
  } catch (error) {
    if (!(error instanceof StorageFullError)) throw error;
  }
}

function rethrow(error: Error): never {
  throw error;
}
