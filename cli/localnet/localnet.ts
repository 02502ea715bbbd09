import { existsSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { Keypair, type PublicKey } from '@solana/web3.js';
import { Command, Option } from 'commander';
import { endWithParent } from '../../common/shutdown.ts';
import { PROFILE_NAMES, PROFILES, type ProfileName } from '../../localnet/profile.ts';
import type { Localnet } from '../../localnet/start.ts';
import { writeSecret } from '../../stack/stackFile.ts';
import { asCommandError, messageOf } from '../terminal/asCommandError.ts';
import { keyOption } from '../terminal/keyOption.ts';
import { parseAddress, parseUrlOf } from '../terminal/ledgerNode.ts';
import { CommandError, within } from '../terminal/output.ts';
import { expectReplaceable, initializeLedger } from './initialized.ts';

interface LocalnetCommandOptions {
  readonly host: string;
  readonly port: number;
  readonly dataDir?: string;
  readonly profile: ProfileName;
  readonly slotMs?: number;
  readonly confirmSlots: number;
  readonly unreliable?: number;
  readonly development?: true;
  readonly payer?: Keypair;
  /** A file for the addresses and keys; true: standard output. */
  readonly initialized?: string | true;
  /** An address and a file for each program. */
  readonly bpfProgram?: readonly string[];
  readonly clone?: readonly PublicKey[];
  readonly url?: URL;
}

/** In the data folder. */
const PAYER_FILE = 'payer.json';
/** The usual port of a validator. */
const PORT = 8899;
/** The websocket uses the next port. */
const PORT_MAX = 65_534;
const SLOT_MS_MAX = 10_000;
/** Below the 32 slots after which a block is final. */
const CONFIRM_SLOTS_MAX = 31;
const SEED_MAX = 999_999_999;

/** `svc localnet`: runs a local ledger in the foreground. */
export function createLocalnetCommand(): Command {
  return new Command('localnet')
    .description('run a local ledger with the escrow program: one node, for development and tests')
    .option('--host <address>', 'the address to listen at', '127.0.0.1')
    .option(
      '--port <port>',
      'the port of JSON-RPC; the websocket uses the next one',
      within(0, PORT_MAX),
      PORT,
    )
    .option('--data-dir <folder>', 'the folder that keeps the ledger between starts')
    .addOption(
      new Option('--profile <name>', 'mainnet: time, rent, limits and finality as there')
        .choices(PROFILE_NAMES)
        .default('development'),
    )
    .option(
      '--slot-ms <ms>',
      `the time between two blocks; by default ${PROFILES.development.slotMs}, or ${PROFILES.mainnet.slotMs} as on mainnet`,
      within(1, SLOT_MS_MAX),
    )
    .option(
      '--confirm-slots <n>',
      'in development, the slots after which a block is confirmed; 0: at once',
      within(0, CONFIRM_SLOTS_MAX),
      0,
    )
    .option(
      '--unreliable <seed>',
      'lose and double what is sent, skip slots, and change the order of lists, by this seed',
      within(0, SEED_MAX),
    )
    .option('--development', 'allow methods that write accounts and move the Clock')
    .option(
      '--payer <file>',
      'a key that gets 100,000 SOL and owns the program',
      keyOption('--payer'),
    )
    .option(
      '--initialized [file]',
      'set the program up as npm start does; addresses and keys as JSON, in a file or printed',
    )
    .option('--bpf-program <address file...>', 'deploy another program; may be repeated')
    .option(
      '--clone <address...>',
      'copy an account of the cluster of --url, a program with its data; may be repeated',
      (text, before: readonly PublicKey[] = []) => [...before, parseAddress(text)],
    )
    .option('--url <rpc>', 'the node of the cluster to copy from', (text) =>
      parseUrlOf('--url', text),
    )
    .action(runLocalnet);
}

async function runLocalnet(options: LocalnetCommandOptions): Promise<void> {
  const { initialized } = options;
  const file = initialized === true ? undefined : initialized;
  if (file) expectReplaceable(file);
  ignoreSqliteWarning();
  const payer = await choosePayer(options);
  const localnet = await start(options, payer.publicKey);
  // Standard output is the JSON's alone.
  const say = initialized === true ? console.error : console.log;
  try {
    const described = initialized && (await initializeLedger(localnet, payer));
    // Before anything is written: the reader may end this process at once.
    endOnSignals(async () => {
      if (file) await rm(file, { force: true });
      await localnet.close();
    });
    if (described) await write(`${JSON.stringify(described)}\n`, file);
  } catch (error) {
    await localnet.close();
    throw error;
  }
  say(`A local ledger: one node for development and tests, no chain.

JSON-RPC      ${localnet.rpcUrl}
websocket     ${localnet.wsUrl}
genesis hash  ${localnet.genesisHash}
payer         ${options.payer || initialized ? payer.publicKey : 'none: see --payer'}
set up        ${initialized ? `addresses and keys in ${file ?? 'the JSON'}` : 'no: see --initialized'}
reliable      ${options.unreliable === undefined ? 'yes' : `no: --unreliable ${options.unreliable}`}
kept          ${options.dataDir ?? 'nowhere: see --data-dir'}

Ctrl-C ends it.`);
}

/** A kept ledger keeps the key that it was set up with. */
async function choosePayer(options: LocalnetCommandOptions): Promise<Keypair> {
  const { payer, dataDir, initialized } = options;
  if (payer) return payer;
  const file = initialized && dataDir && join(dataDir, PAYER_FILE);
  if (file && existsSync(file)) return keyOption(file)(file);
  const made = Keypair.generate();
  if (file) await writeOwn(file, JSON.stringify([...made.secretKey]));
  return made;
}

/** @param file one that only its owner may read; without one the text is printed */
async function write(text: string, file: string | undefined): Promise<void> {
  if (file) await writeOwn(file, text);
  else process.stdout.write(text);
}

const writeOwn = (file: string, text: string) =>
  asCommandError(() => writeSecret(file, text), messageOf(Error));

async function start(options: LocalnetCommandOptions, payer: PublicKey): Promise<Localnet> {
  const { dataDir: folder, clone = [], url, bpfProgram = [] } = options;
  if (clone.length > 0 && !url) throw new CommandError('--clone needs a node: --url <rpc>.');
  const [{ startLocalnet }, { withEscrow }, { cloneAccounts, readPrograms }] = await Promise.all([
    import('../../localnet/start.ts'),
    import('../../localnet/escrow.ts'),
    import('./addedAccounts.ts'),
  ]);
  const escrow = withEscrow({ payer, folder });
  const named = readPrograms(bpfProgram);
  const cloned = url ? await cloneAccounts(clone, url) : [];
  const { host, port, profile, slotMs, confirmSlots, unreliable } = options;
  return asCommandError(
    () =>
      startLocalnet({
        ...escrow,
        programs: [...named, ...escrow.programs],
        accounts: [...escrow.accounts, ...cloned],
        ...{ folder, host, port, profile, slotMs, confirmSlots, unreliable },
        isDevelopment: options.development === true,
        onFault: endWith,
      }),
    messageOf(Error),
  );
}

/** Ends the process once, after the first signal or the end of what runs it. */
function endOnSignals(close: () => Promise<void>): void {
  let isClosing = false;
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    // Not once: npm passes on what the terminal has sent to this process, too.
    process.on(signal, () => {
      if (isClosing) return;
      isClosing = true;
      void close().then(() => process.exit(0));
    });
  }
  endWithParent();
}

/** The data folder has everything that was confirmed, and the next start continues from it. */
function endWith({ message }: Error): void {
  console.error(message);
  process.exit(1);
}

/** Node 24 warns that its SQLite module is experimental. */
function ignoreSqliteWarning(): void {
  const [print] = process.listeners('warning');
  process.removeAllListeners('warning');
  process.on('warning', (warning) => {
    if (!/SQLite is an experimental feature/.test(warning.message)) print?.(warning);
  });
}
