import type { PublicKey } from '@solana/web3.js';
import type { Command } from 'commander';
import {
  type LedgerOptions,
  parseAddress,
  parseNodeUrl,
  parseUrlOf,
} from '../terminal/ledgerNode.ts';
import { CommandError } from '../terminal/output.ts';
import { readDeployment } from './service.ts';

/** The options of a command that lets a service name its ledger. */
export interface TargetOptions {
  readonly service?: URL;
  readonly rpc?: URL;
  readonly program?: PublicKey;
}

/** @param service what the service is to the command, in the words of its help */
export function addTargetOptions(command: Command, service: string): Command {
  return command
    .option('--service <url>', service, parseServiceUrl)
    .option('--rpc <url>', "the ledger's node, unless the service's", parseNodeUrl)
    .option('--program <id>', 'another deployment of the program', parseAddress);
}

/** A ledger, and what the service that was named says of itself. */
export interface Target extends LedgerOptions {
  readonly gateway: PublicKey | undefined;
  /** Whether it takes workers on its own machine. */
  readonly allowsLoopback: boolean | undefined;
}

/**
 * Finds node, program and Gateway. An option wins over what the service says of itself.
 *
 * @throws CommandError when neither names a node, or the service does not answer
 */
export async function findTarget({ service, ...options }: TargetOptions): Promise<Target> {
  const named = service && (await readDeployment(service));
  const rpc = options.rpc ?? (named?.rpc_url ? parseNodeUrl(named.rpc_url) : undefined);
  if (!rpc) {
    throw new CommandError(
      service
        ? "The service names no ledger's node. Say one: --rpc."
        : "Say where: --service, or the ledger's node with --rpc.",
    );
  }
  const program = options.program ?? (named && parseAddress(named.program_id));
  const gateway = named && parseAddress(named.gateway);
  const allowsLoopback = named?.loopback_allowed;
  return { rpc, ...(program && { program }), gateway, allowsLoopback };
}

export const parseServiceUrl = (text: string): URL => parseUrlOf('--service', text);
