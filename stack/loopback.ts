import { isLoopbackAddress, isLoopbackName } from '../common/net/names.ts';
import type { StackConfig } from './config.ts';

/**
 * Whether workers and webhooks may be on this machine. What the operator says is so; else only with
 * a ledger that is set up here for development, or is on this machine: on any other, strangers name
 * the addresses, and would reach what listens here for nobody else.
 */
export function allowsLoopback(
  config: Pick<StackConfig, 'SVC_ALLOW_LOOPBACK' | 'SOLANA_RPC_URL' | 'SVC_AUTHORITY_KEY'>,
): boolean {
  const { SVC_ALLOW_LOOPBACK: chosen, SOLANA_RPC_URL: rpcUrl } = config;
  if (chosen !== undefined) return chosen;
  if (rpcUrl === undefined || config.SVC_AUTHORITY_KEY !== undefined) return true;
  const host = new URL(rpcUrl).hostname.replace(/^\[(.*)\]$/, '$1');
  return isLoopbackName(host) || isLoopbackAddress(host);
}
