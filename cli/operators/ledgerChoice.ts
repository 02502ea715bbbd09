import type { PublicKey } from '@solana/web3.js';
import type { Command } from 'commander';
import { z } from 'zod';
import { ConfigError, parseEnvironment } from '../../common/config.ts';
import { addressSetting } from '../../common/ledgerSettings.ts';
import { FatalError, RetryableError } from '../../indexer/source/errors.ts';
import { PROGRAM_ID } from '../../programs/client/addresses.ts';
import { readStackFile, STACK_FOLDER } from '../../stack/stackFile.ts';
import { asCommandError, messageOf } from '../terminal/asCommandError.ts';
import { parseNodeUrl } from '../terminal/ledgerNode.ts';
import { CommandError } from '../terminal/output.ts';

/** Which node an operator's command asks, beside the database that it uses. */
export interface LedgerChoice {
  readonly rpc?: string;
}

const programSchema = z.object({ SVC_PROGRAM_ID: addressSetting.default(PROGRAM_ID) });

export function withLedgerOption(command: Command): Command {
  return command.option(
    '--rpc <url>',
    "the ledger's node; default: SOLANA_RPC_URL, or the stack that runs here",
    (text) => parseNodeUrl(text).href,
  );
}

/** @throws CommandError when no ledger is named and no stack runs here, or a setting is malformed */
export function locateLedger(choice: LedgerChoice): { rpcUrl: string; programId: PublicKey } {
  const rpcUrl = choice.rpc ?? (process.env.SOLANA_RPC_URL || readStackFile(STACK_FOLDER)?.rpcUrl);
  if (!rpcUrl) {
    throw new CommandError('No ledger: set SOLANA_RPC_URL, or start a stack here with npm start.');
  }
  if (!/^https?:$/.test(URL.parse(rpcUrl)?.protocol ?? '')) {
    // Its value may hold a provider's key.
    throw new CommandError('SOLANA_RPC_URL is no http or https address.');
  }
  const settings = asCommandError(
    () => parseEnvironment(programSchema, process.env),
    messageOf(ConfigError),
  );
  return { rpcUrl, programId: settings.SVC_PROGRAM_ID };
}

/** @throws CommandError for what a node, or the mirror of another ledger, answers */
export function explainNode<Result>(work: Promise<Result>): Promise<Result> {
  return asCommandError(
    () => work,
    (error) =>
      error instanceof RetryableError || error instanceof FatalError
        ? `${error.message}.`
        : undefined,
  );
}
