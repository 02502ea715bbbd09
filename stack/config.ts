import { resolve } from 'node:path';
import { z } from 'zod';
import { booleanSetting, parseEnvironment, portSetting } from '../common/config.ts';
import { addressSetting, keypairSetting } from '../common/ledgerSettings.ts';
import { isLoopbackAddress, isLoopbackName } from '../common/net/addressGuard.ts';
import { databaseUrlSetting, httpUrlSetting, websocketUrlSetting } from '../common/net/urls.ts';
import { PROGRAM_ID } from '../programs/client/addresses.ts';

/** Something that whoever typed `npm start` can put right; the message says how. */
export class StackError extends Error {
  override name = 'StackError';
}

const environmentSchema = z.object({
  HOST: z.string().default('127.0.0.1'),
  PORT: portSetting.default(8080),
  WORKER_UPSTREAM_URL: httpUrlSetting.optional(),
  DATABASE_URL: databaseUrlSetting.optional(),
  SOLANA_RPC_URL: httpUrlSetting.optional(),
  SOLANA_WS_URL: websocketUrlSetting.optional(),
  SVC_PROGRAM_ID: addressSetting.default(PROGRAM_ID),
  /** The program's upgrade authority on a test validator, which the stack may set up. */
  SVC_AUTHORITY_KEY: keypairSetting.optional(),
  /** Makes secrets outlive the local ledger, in a database that does. */
  SVC_SECRETS_KEY: z.string().optional(),
  /** What the embedded parts keep between starts. */
  SVC_DATA_DIR: z
    .string()
    .transform((path) => resolve(path))
    .optional(),
  /** Unset, it follows from where the ledger is. */
  SVC_ALLOW_LOOPBACK: booleanSetting.optional(),
  /** On a cluster, the wallet to make an API key for. */
  SVC_WALLET: addressSetting.optional(),
  /** The wallet's key, where one exists that the stack did not make. */
  SVC_API_KEY: z.string().optional(),
});

/** What `npm start` itself looks at; everything else is for the processes it starts. */
export type StackConfig = Readonly<z.infer<typeof environmentSchema>>;

/** @throws ConfigError naming each variable that is malformed */
export function loadConfig(environment: NodeJS.ProcessEnv = process.env): StackConfig {
  return parseEnvironment(environmentSchema, environment);
}

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
