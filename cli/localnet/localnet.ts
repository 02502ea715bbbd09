import { Keypair } from '@solana/web3.js';
import { Command, InvalidArgumentError } from 'commander';
import { keyOption } from './terminal/keyOption.ts';
import { CommandError } from './terminal/output.ts';

interface LocalnetCommandOptions {
  readonly host: string;
  readonly port: number;
  readonly dataDir?: string;
  readonly slotMs: number;
  readonly confirmSlots: number;
  readonly development?: true;
  readonly payer?: Keypair;
}

/** The usual port of a validator. */
const PORT = 8899;
/** The websocket uses the next port. */
const PORT_MAX = 65_534;
const SLOT_MS = 5;
const SLOT_MS_MAX = 10_000;
/** Below the 32 slots after which a block is final. */
const CONFIRM_SLOTS_MAX = 31;

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
    .option(
      '--slot-ms <ms>',
      'the time between two blocks; a cluster has 400',
      within(1, SLOT_MS_MAX),
      SLOT_MS,
    )
    .option(
      '--confirm-slots <n>',
      'the slots after which a block is confirmed; 0: at once',
      within(0, CONFIRM_SLOTS_MAX),
      0,
    )
    .option('--development', 'allow methods that write accounts and move the Clock')
    .option(
      '--payer <file>',
      'a key that gets 100,000 SOL and owns the program',
      keyOption('--payer'),
    )
    .action(runLocalnet);
}

async function runLocalnet(options: LocalnetCommandOptions): Promise<void> {
  const { payer = Keypair.generate(), dataDir: folder } = options;
  ignoreSqliteWarning();
  const [{ startLocalnet }, { withEscrow }] = await Promise.all([
    import('../localnet/start.ts'),
    import('../localnet/escrow.ts'),
  ]);
  const localnet = await startLocalnet({
    ...withEscrow({ payer: payer.publicKey, folder }),
    folder,
    host: options.host,
    port: options.port,
    slotMs: options.slotMs,
    confirmSlots: options.confirmSlots,
    isDevelopment: options.development === true,
    onFault: endWith,
  }).catch((error: Error) => {
    throw new CommandError(error.message, { cause: error });
  });
  console.log(`A local ledger: one node for development and tests, no chain.

JSON-RPC      ${localnet.rpcUrl}
websocket     ${localnet.wsUrl}
genesis hash  ${localnet.genesisHash}
payer         ${options.payer?.publicKey ?? 'none: see --payer'}
kept          ${folder ?? 'nowhere: see --data-dir'}

Ctrl-C ends it.`);
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.once(signal, () => void localnet.close().then(() => process.exit(0)));
  }
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

function within(min: number, max: number): (text: string) => number {
  return (text) => {
    const number = /^\d{1,9}$/.test(text) ? Number(text) : Number.NaN;
    if (number >= min && number <= max) return number;
    throw new InvalidArgumentError(`It must be a whole number from ${min} to ${max}.`);
  };
}
