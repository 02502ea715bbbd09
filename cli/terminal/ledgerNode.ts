import { PublicKey } from '@solana/web3.js';
import { type Command, InvalidArgumentError } from 'commander';
import { type Addresses, createAddresses } from '../../programs/client/addresses.ts';
import type { LedgerConnection } from '../../programs/client/ledgerConnection.ts';
import { connectRpc, type Rpc, UnreachableError } from '../../programs/client/rpc/rpc.ts';
import { connectLedger } from '../../programs/client/verify/connection/connectLedger.ts';
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

interface OpenedNode {
  /** To send, and to ask. */
  readonly rpc: Rpc;
  /** To read accounts, and transactions of every version. */
  readonly connection: LedgerConnection;
  readonly addresses: Addresses;
}

/**
 * Runs a command's work with a ledger's node.
 *
 * @throws CommandError when the node cannot be reached or gives a wrong answer
 */
export async function withLedgerNode<Result>(
  { rpc: { host, href }, program }: LedgerOptions,
  work: (node: OpenedNode) => Promise<Result>,
): Promise<Result> {
  const rpc = connectRpc({ url: href, timeoutMs: TIMEOUT_MS });
  try {
    return await work({ rpc, connection: connectLedger(rpc), addresses: createAddresses(program) });
  } catch (error) {
    if (error instanceof CommandError) throw error;
    const { message, cause } = error as Error;
    if (!(error instanceof UnreachableError)) {
      const words = `The ledger's node at ${host} did not answer as it should: ${message}`;
      throw new CommandError(words, { cause: error });
    }
    // Most commands never need it.
    const { describeConnectionFault } = await import('../../common/net/connectionFault.ts');
    const fault = describeConnectionFault(cause);
    throw new CommandError(`The ledger's node at ${host} cannot be reached: ${fault}.`, {
      cause: error,
    });
  }
}

export function parseAddress(text: string): PublicKey {
  try {
    return new PublicKey(text);
  } catch {
    throw new InvalidArgumentError('It must be a ledger address.');
  }
}

/** The same, as rows of the database name it. */
export const parseAddressText = (text: string): string => parseAddress(text).toBase58();

export function parseNodeUrl(text: string): URL {
  return parseUrlOf('--rpc', text);
}

/** commander's own error would quote the value, and a provider's URL contains its key. */
export function parseUrlOf(option: string, text: string): URL {
  const url = URL.parse(text);
  if (url?.protocol === 'http:' || url?.protocol === 'https:') return url;
  throw new CommandError(`${option} is no http or https address.`);
}
