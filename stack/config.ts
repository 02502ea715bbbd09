import { resolve } from 'node:path';
import { z } from 'zod';
import { booleanSetting, parseEnvironment, portSetting } from '../common/config.ts';
import { addressSetting, keypairSetting } from '../common/ledgerSettings.ts';
import { isLoopbackHost } from '../common/net/addressGuard.ts';
import { databaseUrlSetting, httpUrlSetting, websocketUrlSetting } from '../common/net/urls.ts';
import { profileSetting } from '../localnet/config.ts';
import { PROGRAM_ID } from '../programs/client/addresses.ts';

/** An error that the caller of `npm start` can correct; the message says how. */
export class StackError extends Error {
  override name = 'StackError';
}

export const environmentSchema = z.object({
  HOST: z.string().default('127.0.0.1').describe('where the API listens'),
  PORT: portSetting.default(8080).describe("the API's port"),
  WORKER_UPSTREAM_URL: httpUrlSetting
    .optional()
    .describe(
      'any chat-completions server, such as http://127.0.0.1:11434/v1; none: the built-in engine',
    ),
  DATABASE_URL: databaseUrlSetting
    .optional()
    .describe('a PostgreSQL server instead of the embedded one'),
  LOCALNET_PROFILE: profileSetting,
  SOLANA_RPC_URL: httpUrlSetting.optional().describe('a cluster instead of the local ledger'),
  SOLANA_WS_URL: websocketUrlSetting
    .optional()
    .describe('its websocket; default: derived from the address'),
  SVC_PROGRAM_ID: addressSetting
    .default(PROGRAM_ID)
    .describe('the program; default: the id in the published interface'),
  SVC_AUTHORITY_KEY: keypairSetting
    .optional()
    .describe(
      'with SOLANA_RPC_URL: sets a test validator up as this authority, which needs 600 SOL there',
    ),
  SVC_SECRETS_KEY: z
    .string()
    .optional()
    .describe('with DATABASE_URL: keeps webhook secrets readable after a restart'),
  SVC_DATA_DIR: z
    .string()
    .transform((path) => resolve(path))
    .optional()
    .describe('keeps database, ledger, authority and API key between starts'),
  SVC_ALLOW_LOOPBACK: booleanSetting
    .optional()
    .describe('default: where the ledger is local or set up here'),
  SVC_WALLET: addressSetting
    .optional()
    .describe(
      'required with a cluster: the wallet to make an API key for; on a ledger that it sets up, npm start makes the wallet too',
    ),
  SVC_API_KEY: z.string().optional().describe("the wallet's key, if it has one already"),
});

/** What `npm start` itself looks at; everything else is for the processes it starts. */
export type StackConfig = Readonly<z.infer<typeof environmentSchema>>;

/** @throws ConfigError naming each variable that is malformed */
export function loadConfig(environment: NodeJS.ProcessEnv = process.env): StackConfig {
  return parseEnvironment(environmentSchema, environment);
}

/**
 * Whether workers and webhooks may be on this machine. By default only with a development ledger, or
 * with a ledger on this machine. On any other ledger, strangers register the addresses, and could
 * reach services that listen only on loopback.
 */
export function allowsLoopback(
  config: Pick<StackConfig, 'SVC_ALLOW_LOOPBACK' | 'SOLANA_RPC_URL' | 'SVC_AUTHORITY_KEY'>,
): boolean {
  const { SVC_ALLOW_LOOPBACK: chosen, SOLANA_RPC_URL: rpcUrl } = config;
  if (chosen !== undefined) return chosen;
  if (rpcUrl === undefined || config.SVC_AUTHORITY_KEY !== undefined) return true;
  return isLoopbackHost(new URL(rpcUrl).hostname);
}
