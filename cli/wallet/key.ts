import { Command } from 'commander';
import { z } from 'zod';
import { confirm } from '../terminal/confirm.ts';
import { type SignIn, withSession } from './service.ts';
import { addSignInOptions } from './signIn.ts';

interface Options extends SignIn {
  readonly yes?: true;
}

const createdKey = z.object({ api_key: z.string() });

/** `svc key`: the API key of a wallet. Standard output has only the new key. */
export function createKeyCommand(): Command {
  const key = new Command('key')
    .description("make, replace or end a wallet's API key, signed in by the wallet")
    .addHelpText('after', '\nOperators have svc keys, which changes any key in the database.');
  const add = (name: string, description: string): Command =>
    addSignInOptions(key.command(name)).description(description);
  add('create', "make the wallet's key, printed once").action(create);
  add('regenerate', 'end the key and make another, at once')
    .option('--yes', 'do it without being asked')
    .action(regenerate);
  add('revoke', 'end the key for good').option('--yes', 'do it without being asked').action(revoke);
  return key;
}

const create = (options: SignIn) => make('POST /key', options);

async function regenerate(options: Options): Promise<void> {
  if (!options.yes) {
    await confirm('The present key ends at once. Make another?', 'The key is as it was.');
  }
  await make('POST /key/regenerate', options);
}

async function make(route: string, signIn: SignIn): Promise<void> {
  const answer = await withSession(signIn, ({ call }) => call(route));
  console.log(createdKey.parse(answer).api_key);
  console.error('This key is shown once. It spends the credits of the wallet within its limits.');
}

async function revoke({ yes, ...signIn }: Options): Promise<void> {
  if (!yes) await confirm('Requests with the key get 401. Revoke it?', 'The key is as it was.');
  await withSession(signIn, ({ call }) => call('DELETE /key'));
  console.error(`The key of ${signIn.signer.address} is revoked.`);
}
