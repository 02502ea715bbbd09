import { Connection, PublicKey } from '@solana/web3.js';
import { type Command, InvalidArgumentError } from 'commander';
import { type Addresses, createAddresses } from '../../programs/client/addresses.ts';
import type { LedgerConnection } from '../../programs/client/ledgerConnection.ts';
import {
  connectLedger,
  requestFrom,
} from '../../programs/client/verify/connection/connectLedger.ts';
import { CommandError } from './output.ts';

/** The options of every command that reads only a ledger. */
export interface LedgerOptions {
  readonly rpc: URL;
  readonly program?: PublicKey;
}

/** A node takes long to list all accounts of a program. */
const TIMEOUT_MS = 120_000;

/** @param rpc the description of the node in the command's help */
export function addLedgerOptions(
  command: Command,
  rpc = "a ledger's node, whose answers are checked",
): Command {
  return command
    .requiredOption('--rpc <url>', rpc, parseNodeUrl)
    .option('--program <id>', 'another deployment of the program', parseAddress);
}

interface LedgerNode {
  readonly connection: Connection;
  /** Of this project, for verification: it reads every version of transactions. */
  readonly reader: LedgerConnection;
  readonly addresses: Addresses;
}

/**
 * Runs a command's work with a ledger's node.
 *
 * @throws CommandError when the node cannot be reached or gives a wrong answer
 */
export async function withLedgerNode<Result>(
  { rpc, program }: LedgerOptions,
  work: (ledger: LedgerNode) => Promise<Result>,
): Promise<Result> {
  // web3.js wraps the errors of its fetch.
  let unreachable: CommandError | undefined;
  async function ask(url: string, init: RequestInit): Promise<Response> {
    const signal = AbortSignal.timeout(TIMEOUT_MS);
    try {
      return await fetch(url, { ...init, signal });
    } catch (cause) {
      // Most commands never need it.
      const { describeConnectionFault } = await import('../../common/net/connectionFault.ts');
      unreachable = new CommandError(
        `The ledger's node at ${rpc.host} cannot be reached: ${describeConnectionFault(cause)}.`,
        { cause },
      );
      throw unreachable;
    }
  }
  const connection = new Connection(rpc.href, { commitment: 'confirmed', fetch: ask as never });
  const reader = connectLedger(requestFrom(rpc.href, { post: ask }));
  try {
    return await work({ connection, reader, addresses: createAddresses(program) });
  } catch (error) {
    if (error instanceof CommandError) throw error;
    const { message } = error as Error;
    throw (
      unreachable ??
      new CommandError(`The ledger's node at ${rpc.host} did not answer as it should: ${message}`, {
        cause: error,
      })
    );
  }
}

export function parseAddress(text: string): PublicKey {
  try {
    return new PublicKey(text);
  } catch {
    throw new InvalidArgumentError('It must be a ledger address.');
  }
}

export function parseNodeUrl(text: string): URL {
  return parseUrlOf('--rpc', text);
}

/** commander's own error would quote the value, and a provider's URL contains its key. */
export function parseUrlOf(option: string, text: string): URL {
  const url = URL.parse(text);
  if (url?.protocol === 'http:' || url?.protocol === 'https:') return url;
  throw new CommandError(`${option} is no http or https address.`);
}
