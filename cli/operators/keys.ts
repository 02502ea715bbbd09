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
import { asCommandError, messageOf } from '../terminal/asCommandError.ts';
import { renderRows } from '../terminal/output.ts';
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
      console.error(
        'This key is shown once. Anybody who has it can spend the credits of its wallet.',
      );
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
        await asCommandError(() => suspendWallet(pool, wallet, reason), messageOf(...REFUSALS));
        console.error(`The wallet ${wallet} is suspended.`);
      }),
    );

  keys
    .command('list')
    .description('live, suspended and lately revoked keys, newest first; never the keys themselves')
    .action(() => withDatabase(async (pool) => console.log(renderKeys(await listKeys(pool)))));
  return keys;
}

function renderKeys(keys: Awaited<ReturnType<typeof listKeys>>): string {
  const head = ['wallet', 'status', 'created', 'suspended by', 'why'];
  const rows = keys.map(({ wallet, status, created_at, suspended_by, suspension_reason }) => {
    const why = [suspended_by ?? '', suspension_reason ?? ''];
    return [wallet, status, created_at?.toISOString() ?? 'no key', ...why];
  });
  return renderRows(head, rows);
}

function withWallet(
  command: Command,
  work: (pool: pg.Pool, wallet: string) => Promise<void>,
): void {
  command
    .requiredOption('--wallet <address>', WALLET, parseAddress)
    .action(({ wallet }: { wallet: string }) =>
      withDatabase((pool) => asCommandError(() => work(pool, wallet), messageOf(...REFUSALS))),
    );
}

const REFUSALS = [
  KeyExistsError,
  KeyNotFoundError,
  KeyReplacedError,
  SuspensionStateError,
  WalletSuspendedError,
];

function parseAddress(text: string): string {
  try {
    return new PublicKey(text).toBase58();
  } catch {
    throw new InvalidArgumentError('It must be a ledger address.');
  }
}
