import { z } from 'zod';
import {
  booleanSetting,
  parseEnvironment,
  portSetting,
  shutdownTimeoutSetting,
} from '../common/config.ts';
import { addressSetting, keypairListSetting, keypairSetting } from '../common/ledgerSettings.ts';
import { logLevelSetting } from '../common/logger.ts';
import {
  databaseUrlSetting,
  fetchedUrlSetting,
  httpUrlSetting,
  websocketUrlSetting,
} from '../common/net/urls.ts';
import { hasDistinctKeys, SAME_KEYS, secretsKeySettings } from '../common/sealing.ts';

const countSetting = (fallback: number) => z.coerce.number().int().positive().default(fallback);

/** An address that paths are put behind. */
const rootSetting = httpUrlSetting.transform((url) => url.replace(/\/+$/, ''));

/** Origins as browsers spell them, separated by commas. */
const originsSetting = z
  .string()
  .transform((text) => text.split(',').map((origin) => origin.trim()))
  .refine((origins) => origins.every((origin) => URL.parse(origin)?.origin === origin), {
    error: 'must be origins such as https://console.example.com, separated by commas',
  });

const environmentSchema = z.object({
  HOST: z.string().default('127.0.0.1'),
  PORT: portSetting.default(8080),
  PUBLIC_URL: rootSetting.optional(),
  TLS_CERT: z.string().optional(),
  TLS_KEY: z.string().optional(),
  SVC_ALLOW_PLAIN_HTTP: booleanSetting.default(false),
  SVC_ALLOW_LOOPBACK: booleanSetting.default(false),
  SVC_CORS_ORIGINS: originsSetting.default([]),
  METRICS_HOST: z.string().default('127.0.0.1'),
  METRICS_PORT: portSetting.optional(),
  OTEL_EXPORTER_OTLP_ENDPOINT: rootSetting.optional(),
  OTEL_TRACES_SAMPLER_ARG: z.coerce.number().min(0).max(1).default(1),
  SVC_TRUSTED_PROXY_HOPS: z.coerce.number().int().min(0).default(0),
  SVC_BURST_REQUESTS: countSetting(1_000),
  SVC_BURST_REFILL_PER_SECOND: countSetting(200),
  SVC_BURST_REFUSED_KEYS: countSetting(50),
  SVC_BURST_REFUSED_KEYS_REFILL_PER_SECOND: countSetting(5),
  DATABASE_URL: databaseUrlSetting,
  SOLANA_RPC_URL: fetchedUrlSetting(),
  SOLANA_WS_URL: websocketUrlSetting.optional(),
  HELIUS_API_KEY: z.string().optional(),
  SVC_PROGRAM_ID: addressSetting.optional(),
  SVC_COMMITMENT: z.enum(['confirmed', 'finalized']).default('confirmed'),
  SVC_GATEWAY: addressSetting,
  SVC_SIGNER_KEY: keypairSetting,
  SVC_FEE_PAYER_KEYS: keypairListSetting,
  SVC_SUBMISSIONS_MAX: countSetting(64),
  ...secretsKeySettings,
  SVC_TOKENIZERS_DIR: z.string().optional(),
  SVC_SHUTDOWN_TIMEOUT_MS: shutdownTimeoutSetting.default(20_000),
  LOG_LEVEL: logLevelSetting,
});

const consistentSchema = environmentSchema.refine(hasDistinctKeys, SAME_KEYS);

/** The API process's settings; every variable is described in `.env.example`. */
export type ApiConfig = z.infer<typeof environmentSchema>;

/** @throws ConfigError naming each variable that is missing or malformed */
export function loadConfig(environment: NodeJS.ProcessEnv = process.env): Readonly<ApiConfig> {
  return parseEnvironment(consistentSchema, environment);
}
