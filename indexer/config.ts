import { z } from 'zod';
import { booleanSetting, parseEnvironment, portSetting, wholeSetting } from '../common/config.ts';
import {
  addressSetting,
  commitmentSetting,
  signerSetting,
  transactionVersionSetting,
} from '../common/ledgerSettings.ts';
import { logLevelSetting } from '../common/logger.ts';
import { databaseUrlSetting, fetchedUrlSetting, websocketUrlSetting } from '../common/net/urls.ts';
import { hasDistinctKeys, SAME_KEYS, secretsKeySettings } from '../common/sealing.ts';
import { PROGRAM_ID } from '../programs/client/addresses.ts';
import { READS_AT_ONCE } from './source/readAhead.ts';

/** How many offences a wallet may have; 0 for any number. */
const offencesSetting = (fallback: number) => wholeSetting(0).default(fallback);

/** Two weeks: a timer cannot be set for twice as long, and would end at once. */
const RECONCILE_INTERVAL_SECONDS_MAX = 14 * 86_400;

export const environmentSchema = z.object({
  DATABASE_URL: databaseUrlSetting.describe('a PostgreSQL database'),
  SOLANA_RPC_URL: fetchedUrlSetting().describe("the ledger's node"),
  SOLANA_WS_URL: websocketUrlSetting
    .optional()
    .describe("its websocket; default: derived from the node's address"),
  SVC_PROGRAM_ID: addressSetting
    .default(PROGRAM_ID)
    .describe('the program; default: the id in the published interface'),
  SVC_COMMITMENT: commitmentSetting,
  SVC_TRANSACTION_VERSION: transactionVersionSetting,
  SVC_CRANK_KEY: signerSetting.describe(
    'pays for refunds, expiries, closings and claims; a key as SVC_SIGNER_KEY is',
  ),
  HELIUS_API_KEY: z
    .string()
    .optional()
    .describe(
      "take priority fees from Helius's estimate, and a long history oldest first; see docs/deploying.md",
    ),
  SVC_RECONCILE_INTERVAL_SECONDS: z.coerce
    .number()
    .positive()
    .max(RECONCILE_INTERVAL_SECONDS_MAX)
    .default(600)
    .describe('compares journal, tables, accounts and vaults this often, 1209600 at most'),
  SVC_ABUSE_UNPAID_ENDINGS_PER_HOUR: offencesSetting(200).describe(
    'answers a wallet may leave unpaid before its key is suspended; 0: any number',
  ),
  SVC_ABUSE_REJECTED_DISPUTES_PER_30_DAYS: offencesSetting(10).describe(
    'the same of disputes that came to nothing',
  ),
  INDEXER_READS_AT_ONCE: wholeSetting(1, 1_000)
    .default(READS_AT_ONCE)
    .describe(
      'transactions asked of the node at a time, up to 50 in a request; fewer where a provider limits its rate',
    ),
  INDEXER_LAG_SLOTS_MAX: z.coerce
    .number()
    .int()
    .positive()
    .default(150)
    .describe('slots behind the ledger beyond which /ready answers 503'),
  INDEXER_LAG_MS_MAX: z.coerce
    .number()
    .int()
    .positive()
    .default(30_000)
    .describe('the same in milliseconds'),
  INDEXER_HOST: z.string().default('127.0.0.1').describe('where /ready and /metrics are served'),
  INDEXER_PORT: portSetting.default(8081).describe('their port'),
  ...secretsKeySettings,
  SVC_ALLOW_LOOPBACK: booleanSetting
    .default(false)
    .describe('allow workers and webhooks on loopback; for development only'),
  SVC_WEBHOOK_COMMITMENT: z
    .enum(['confirmed', 'finalized'])
    .default('confirmed')
    .describe('confirmed or finalized: webhooks report final transactions only'),
  LOG_LEVEL: logLevelSetting.describe('fatal, error, warn, info, debug, trace or silent'),
});

const consistentSchema = environmentSchema.refine(hasDistinctKeys, SAME_KEYS);

/** The indexer process's settings; every variable is described in `.env.example`. */
export type IndexerConfig = Readonly<z.infer<typeof environmentSchema>>;

/** @throws ConfigError naming each variable that is missing or malformed */
export function loadConfig(environment: NodeJS.ProcessEnv = process.env): IndexerConfig {
  return parseEnvironment(consistentSchema, environment);
}
