import { z } from 'zod';
import { PROGRAM_ID } from '../programs/client/addresses.ts';
import { addressSetting } from '../runtime/address.ts';
import { parseEnvironment, portSetting } from '../runtime/config.ts';
import { keypairSetting } from '../runtime/keypair.ts';
import { logLevelSetting } from '../runtime/logger.ts';

const environmentSchema = z.object({
  DATABASE_URL: z.string(),
  SOLANA_RPC_URL: z.url(),
  SOLANA_WS_URL: z.url().optional(),
  SVC_PROGRAM_ID: addressSetting.default(PROGRAM_ID),
  SVC_COMMITMENT: z.enum(['confirmed', 'finalized']).default('confirmed'),
  SVC_CRANK_KEY: keypairSetting,
  INDEXER_HOST: z.string().default('127.0.0.1'),
  INDEXER_PORT: portSetting.default(8081),
  LOG_LEVEL: logLevelSetting,
});

/** The indexer process's settings; every variable is described in `.env.example`. */
export type IndexerConfig = Readonly<z.infer<typeof environmentSchema>>;

/** @throws ConfigError naming each variable that is missing or malformed */
export function loadConfig(environment: NodeJS.ProcessEnv = process.env): IndexerConfig {
  return parseEnvironment(environmentSchema, environment);
}
