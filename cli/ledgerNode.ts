import { Connection, PublicKey } from '@solana/web3.js';
import { type Command, InvalidArgumentError } from 'commander';
import { type Addresses, createAddresses } from '../programs/client/addresses.ts';
import { CommandError } from './output.ts';

/** What every command takes that reads a ledger and nothing else of the service. */
export interface LedgerOptions {
  readonly rpc: URL;
  readonly program?: PublicKey;
}

/** All accounts of a program take a node longer than a single one. */
const TIMEOUT_MS = 120_000;

/** @param rpc what the node is to the command, for its help */
export function addLedgerOptions(
  command: Command,
  rpc = "a ledger's node: what it says is what is checked",
): Command {
  return command
    .requiredOption('--rpc <url>', rpc, parseNodeUrl)
    .option('--program <id>', 'another deployment of the program', parseAddress);
}

/**
 * Runs what a command asks of a ledger's node.
 *
 * @throws CommandError when the node cannot be reached, or does not answer as such nodes do
 */
export async function withLedgerNode<Result>(
  { rpc, program }: LedgerOptions,
  ask: (ledger: { connection: Connection; addresses: Addresses }) => Promise<Result>,
): Promise<Result> {
  // web3.js wraps what its fetch throws in errors of its own.
  let unreachable: CommandError | undefined;
  const connection = new Connection(rpc.href, {
    commitment: 'confirmed',
    fetch: async (url, init) => {
      const signal = AbortSignal.timeout(TIMEOUT_MS);
      try {
        return (await fetch(url as string, { ...(init as RequestInit), signal })) as never;
      } catch (cause) {
        unreachable = new CommandError(`The ledger's node at ${rpc.host} cannot be reached.`, {
          cause,
        });
        throw unreachable;
      }
    },
  });
  try {
    return await ask({ connection, addresses: createAddresses(program) });
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
    throw new InvalidArgumentError('It is no ledger address.');
  }
}

/** Not commander's own error, which would quote the value: providers' addresses hold their key. */
export function parseNodeUrl(text: string): URL {
  const url = URL.parse(text);
  if (url?.protocol === 'http:' || url?.protocol === 'https:') return url;
  throw new CommandError('--rpc is no http or https address.');
}
