import { z } from 'zod';
import { booleanSetting, parseEnvironment, portSetting } from '../common/config.ts';
import { addressSetting, keypairSetting } from '../common/ledgerSettings.ts';
import { logLevelSetting } from '../common/logger.ts';
import { databaseUrlSetting, fetchedUrlSetting, websocketUrlSetting } from '../common/net/urls.ts';
import { hasDistinctKeys, SAME_KEYS, secretsKeySettings } from '../common/sealing.ts';
import { PROGRAM_ID } from '../programs/client/addresses.ts';

/** How many offences a wallet may have; 0 for any number. */
const offencesSetting = (fallback: number) => z.coerce.number().int().min(0).default(fallback);

/** Two weeks: a timer cannot be set for twice as long, and would end at once. */
const RECONCILE_INTERVAL_SECONDS_MAX = 14 * 86_400;

const environmentSchema = z.object({
  DATABASE_URL: databaseUrlSetting,
  SOLANA_RPC_URL: fetchedUrlSetting(),
  SOLANA_WS_URL: websocketUrlSetting.optional(),
  SVC_PROGRAM_ID: addressSetting.default(PROGRAM_ID),
  SVC_COMMITMENT: z.enum(['confirmed', 'finalized']).default('confirmed'),
  SVC_CRANK_KEY: keypairSetting,
  HELIUS_API_KEY: z.string().optional(),
  SVC_RECONCILE_INTERVAL_SECONDS: z.coerce
    .number()
    .positive()
    .max(RECONCILE_INTERVAL_SECONDS_MAX)
    .default(600),
  SVC_ABUSE_UNPAID_ENDINGS_PER_HOUR: offencesSetting(200),
  SVC_ABUSE_REJECTED_DISPUTES_PER_30_DAYS: offencesSetting(10),
  INDEXER_LAG_SLOTS_MAX: z.coerce.number().int().positive().default(150),
  INDEXER_LAG_MS_MAX: z.coerce.number().int().positive().default(30_000),
  INDEXER_HOST: z.string().default('127.0.0.1'),
  INDEXER_PORT: portSetting.default(8081),
  ...secretsKeySettings,
  SVC_ALLOW_LOOPBACK: booleanSetting.default(false),
  SVC_WEBHOOK_COMMITMENT: z.enum(['confirmed', 'finalized']).default('confirmed'),
  LOG_LEVEL: logLevelSetting,
});

const consistentSchema = environmentSchema.refine(hasDistinctKeys, SAME_KEYS);

/** The indexer process's settings; every variable is described in `.env.example`. */
export type IndexerConfig = Readonly<z.infer<typeof environmentSchema>>;

/** @throws ConfigError naming each variable that is missing or malformed */
export function loadConfig(environment: NodeJS.ProcessEnv = process.env): IndexerConfig {
  return parseEnvironment(consistentSchema, environment);
}
