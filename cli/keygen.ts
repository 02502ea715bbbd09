import { Command } from 'commander';
import { writeNewKey } from '../common/keys/keyFile.ts';
import { asCommandError } from './terminal/asCommandError.ts';

const REASONS: Readonly<Record<string, string>> = {
  EEXIST: 'is there already, and a key is never overwritten',
  ENOENT: 'lies in a folder that does not exist',
  EACCES: 'cannot be written by this user',
};

/** `svc keygen`: makes a key file for a wallet, a worker or a signer. */
export function createKeygenCommand(): Command {
  return new Command('keygen')
    .description('make a key file that its owner alone can read, and print its address')
    .argument('<file>', 'where the key goes; an existing file is never overwritten')
    .action(makeKey);
}

function makeKey(path: string): void {
  const { publicKey } = asCommandError(
    () => writeNewKey(path),
    ({ code = 'error' }: NodeJS.ErrnoException) =>
      `${path} ${REASONS[code] ?? `cannot be written (${code})`}.`,
  );
  console.log(publicKey.toBase58());
}
