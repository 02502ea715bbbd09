import { PublicKey } from '@solana/web3.js';
import { Command, InvalidArgumentError } from 'commander';
import type pg from 'pg';
import {
  createKey,
  KeyExistsError,
  KeyNotFoundError,
  KeyReplacedError,
  listKeys,
  regenerateKey,
  revokeKey,
} from '../../api/account/keys.ts';
import {
  reinstateWallet,
  SuspensionStateError,
  suspendWallet,
  WalletSuspendedError,
} from '../../api/account/suspensions.ts';
import { CommandError, renderRows } from '../terminal/output.ts';
import { withDatabase } from './database.ts';

const WALLET = 'the wallet whose credits the key spends';

/** `svc keys`. Standard output has only the new key, so that it can be piped. */
export function createKeysCommand(): Command {
  const keys = new Command('keys')
    .description('create, revoke and list API keys in the database, for operators; one per wallet')
    .addHelpText('after', "\nA wallet's owner has svc key, which signs in with the wallet.");

  const make = (
    verb: string,
    description: string,
    work: (pool: pg.Pool, wallet: string) => Promise<string>,
  ) =>
    withWallet(keys.command(verb).description(description), async (pool, wallet) => {
      console.log(await work(pool, wallet));
      console.error('This key is shown once. Whoever has it can spend the credits of its wallet.');
    });
  make('create', "make the wallet's key", createKey);
  make('regenerate', 'revoke the key and make another, at once', regenerateKey);

  withWallet(
    keys.command('revoke').description('end the key for good; a suspension stays'),
    async (pool, wallet) => {
      await revokeKey(pool, wallet);
      console.error(`The key of ${wallet} is revoked.`);
    },
  );
  withWallet(
    keys.command('reinstate').description("end a wallet's suspension and forgive its cause"),
    async (pool, wallet) => {
      await reinstateWallet(pool, wallet);
      console.error(`The wallet ${wallet} is reinstated.`);
    },
  );

  keys
    .command('suspend')
    .description("refuse the wallet's keys, also later ones, until it is reinstated")
    .requiredOption('--wallet <address>', WALLET, parseAddress)
    .option('--reason <text>', 'why, for the list of keys')
    .action(({ wallet, reason }: { wallet: string; reason?: string }) =>
      withDatabase(async (pool) => {
        await explained(suspendWallet(pool, wallet, reason));
        console.error(`The wallet ${wallet} is suspended.`);
      }),
    );

  keys
    .command('list')
    .description('live, suspended and lately revoked keys, newest first; never the keys themselves')
    .action(() =>
      withDatabase(async (pool) => {
        const head = ['wallet', 'status', 'created', 'suspended by', 'why'];
        const rows = (await listKeys(pool)).map((key) => {
          const { wallet, status, created_at, suspended_by, suspension_reason } = key;
          const why = [suspended_by ?? '', suspension_reason ?? ''];
          return [wallet, status, created_at?.toISOString() ?? 'no key', ...why];
        });
        console.log(renderRows(head, rows));
      }),
    );
  return keys;
}

function withWallet(
  command: Command,
  work: (pool: pg.Pool, wallet: string) => Promise<void>,
): void {
  command
    .requiredOption('--wallet <address>', WALLET, parseAddress)
    .action(({ wallet }: { wallet: string }) =>
      withDatabase((pool) => explained(work(pool, wallet))),
    );
}

const REFUSALS = [
  KeyExistsError,
  KeyNotFoundError,
  KeyReplacedError,
  SuspensionStateError,
  WalletSuspendedError,
];

/** Reports in one sentence why nothing was changed. */
async function explained(work: Promise<void>): Promise<void> {
  try {
    await work;
  } catch (error) {
    const known = REFUSALS.some((refusal) => error instanceof refusal) && (error as Error);
    throw known ? new CommandError(known.message, { cause: error }) : error;
  }
}

function parseAddress(text: string): string {
  try {
    return new PublicKey(text).toBase58();
  } catch {
    throw new InvalidArgumentError('It must be a ledger address.');
  }
}
