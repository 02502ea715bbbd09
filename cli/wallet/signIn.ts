import type { Keypair } from '@solana/web3.js';
import type { Command } from 'commander';
import { keyOption } from '../terminal/keyOption.ts';
import { parseServiceUrl } from './target.ts';

/** The options of a command that signs in to a service by wallet. */
export interface SignIn {
  readonly service: URL;
  readonly signer: Keypair;
}

export function addSignInOptions(command: Command): Command {
  return command
    .requiredOption('--service <url>', 'the service, to which the wallet signs in', parseServiceUrl)
    .requiredOption('--signer <file>', 'the key of the wallet', keyOption('--signer'));
}
