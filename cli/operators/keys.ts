import { PublicKey } from '@solana/web3.js';
import { Command, InvalidArgumentError } from 'commander';
import type pg from 'pg';
import {
  createKey,
  KeyExistsError,
  KeyNotFoundError,
  listKeys,
  regenerateKey,
  reinstateKey,
  revokeKey,
  suspendKey,
} from '../../api/account/keys.ts';
import { CommandError, renderRows } from '../terminal/output.ts';
import { withDatabase } from './database.ts';

const WALLET = 'the wallet whose credits the key spends';

/** `svc keys`. Standard output has only the new key, so that it can be piped. */
export function createKeysCommand(): Command {
  const keys = new Command('keys')
    .description('create, revoke and list API keys in the database, for operators; one per wallet')
    .addHelpText('after', "\nA wallet's owner has svc key, which signs in with the wallet.");

  const make = (verb: string, description: string, work: typeof createKey) =>
    withWallet(keys.command(verb).description(description), async (pool, wallet) => {
      console.log(await work(pool, wallet));
      console.error('This key is shown once. Whoever has it can spend the credits of its wallet.');
    });
  make('create', "make the wallet's key", createKey);
  make('regenerate', 'revoke the key and make another, at once', regenerateKey);

  const change = (verb: string, description: string, done: string, work: typeof revokeKey) =>
    withWallet(keys.command(verb).description(description), async (pool, wallet) => {
      await work(pool, wallet);
      console.error(`The key of ${wallet} is ${done}.`);
    });
  change('revoke', 'end the key for good', 'revoked', revokeKey);
  change('reinstate', 'end a suspension and forgive its cause', 'active again', reinstateKey);

  keys
    .command('suspend')
    .description('refuse the key until it is reinstated')
    .requiredOption('--wallet <address>', WALLET, parseAddress)
    .option('--reason <text>', 'why, for the list of keys')
    .action(({ wallet, reason }: { wallet: string; reason?: string }) =>
      withDatabase(async (pool) => {
        await explained(suspendKey(pool, wallet, reason));
        console.error(`The key of ${wallet} is suspended.`);
      }),
    );

  keys
    .command('list')
    .description('all keys ever made, newest first; never the keys themselves')
    .action(() =>
      withDatabase(async (pool) => {
        const head = ['wallet', 'status', 'created', 'suspended by', 'why'];
        const rows = (await listKeys(pool)).map((key) => {
          const { wallet, status, created_at, suspended_by, suspension_reason } = key;
          const why = [suspended_by ?? '', suspension_reason ?? ''];
          return [wallet, status, created_at.toISOString(), ...why];
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

/** Reports a missing or existing key in one sentence. */
async function explained(work: Promise<void>): Promise<void> {
  try {
    await work;
  } catch (error) {
    const isKnown = error instanceof KeyExistsError || error instanceof KeyNotFoundError;
    throw isKnown ? new CommandError(error.message, { cause: error }) : error;
  }
}

function parseAddress(text: string): string {
  try {
    return new PublicKey(text).toBase58();
  } catch {
    throw new InvalidArgumentError('It must be a ledger address.');
  }
}
