import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Keypair, LAMPORTS_PER_SOL } from '@solana/web3.js';
import {
  type LedgerOptions,
  openService,
  type Service,
  startLedger,
  type TestLedger,
} from './ledger.ts';

/** A ledger that was closed with a service on it, whose keys that send transactions have SOL. */
interface Snapshot {
  files: ReadonlyMap<string, Uint8Array>;
  opened: Service;
  /** The indexer's key. */
  crank: Keypair;
}

type Options = Pick<LedgerOptions, 'profile' | 'blockhashMs'>;

/** Of this process, by what they differ in: each service begins with a copy. */
const snapshots = new Map<string, Promise<Snapshot>>();

/**
 * Starts a ledger with a service on it. The first of a process opens it by its transactions; each
 * later one is a copy, with the same history and the same keys.
 *
 * @param credits what the service's wallet has bought
 */
export async function startOpenedLedger(
  options: Options,
  credits: bigint,
): Promise<{ ledger: TestLedger } & Pick<Snapshot, 'opened' | 'crank'>> {
  const key = `${options.profile} ${credits}`;
  const taken = snapshots.get(key) ?? takeSnapshot(options, credits);
  snapshots.set(key, taken);
  taken.catch(() => snapshots.delete(key));
  const { files, opened, crank } = await taken;
  return inFolder(async (folder) => {
    for (const [name, content] of files) writeFileSync(join(folder, name), content);
    const payer = opened.operator.authority;
    const ledger = await startLedger({ ...options, folder, payer });
    const operator = { ...opened.operator, rpc: ledger.rpc };
    return { ledger, opened: { ...opened, operator }, crank };
  });
}

function takeSnapshot(options: Options, credits: bigint): Promise<Snapshot> {
  return inFolder(async (folder) => {
    const ledger = await startLedger({ ...options, folder });
    const opened = await openService(ledger, { credits });
    const crank = Keypair.generate();
    for (const { publicKey } of [opened.hotSigner, crank]) {
      await ledger.fundLamports(publicKey, 1_000 * LAMPORTS_PER_SOL);
    }
    await ledger.close();
    const files = readdirSync(folder).map(
      (name) => [name, readFileSync(join(folder, name))] as const,
    );
    return { files: new Map(files), opened, crank };
  });
}

/** Linux keeps the files below it in memory. */
const MEMORY_FOLDER = '/dev/shm';

/** Removes the folder at the end of `work`: a ledger that runs has its files open, and needs no names. */
async function inFolder<Result>(work: (folder: string) => Promise<Result>): Promise<Result> {
  const parent = existsSync(MEMORY_FOLDER) ? MEMORY_FOLDER : tmpdir();
  const folder = mkdtempSync(join(parent, 'svc-ledger-'));
  try {
    return await work(folder);
  } finally {
    rmSync(folder, { recursive: true });
  }
}
