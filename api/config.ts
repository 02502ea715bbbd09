import { z } from 'zod';
import {
  booleanSetting,
  parseEnvironment,
  portSetting,
  shutdownTimeoutSetting,
} from '../common/config.ts';
import {
  addressListSetting,
  addressSetting,
  commitmentSetting,
  signerListSetting,
  signerSetting,
  transactionVersionSetting,
} from '../common/ledgerSettings.ts';
import { logLevelSetting } from '../common/logger.ts';
import {
  databaseUrlSetting,
  fetchedUrlSetting,
  httpUrlSetting,
  websocketUrlSetting,
} from '../common/net/urls.ts';
import { hasDistinctKeys, SAME_KEYS, secretsKeySettings } from '../common/sealing.ts';
import { NO_PREVIEW } from './contracts/tools.ts';

const countSetting = (fallback: number) => z.coerce.number().int().positive().default(fallback);

const durationSetting = (maxMs: number, fallbackMs: number) =>
  z.coerce.number().int().min(0).max(maxMs).default(fallbackMs);

/** An address that paths are put behind. */
const rootSetting = httpUrlSetting.transform((url) => url.replace(/\/+$/, ''));

/** The origin of an app's page, as `app://notes` or `chrome-extension://…`: no URL standard spells it. */
const APP_ORIGIN = /^(?!https?:)[a-z][a-z0-9+.-]*:\/\/[^\s/?#,*@]+$/;

function isOrigin(text: string): boolean {
  return URL.parse(text)?.origin === text || APP_ORIGIN.test(text);
}

/** Origins as browsers spell them, separated by commas. */
const originsSetting = z
  .string()
  .transform((text) => text.split(',').map((origin) => origin.trim()))
  .refine((origins) => origins.every(isOrigin), {
    error:
      'must be origins as browsers send them, such as https://console.example.com or app://notes, ' +
      'separated by commas',
  });

/** What an operator may turn on before it is for everybody. */
const PREVIEWS = ['tools'] as const;

const previewSetting = z
  .string()
  .transform((text) => text.split(',').map((word) => word.trim()))
  .refine((words) => words.every((word) => PREVIEWS.some((preview) => preview === word)), {
    error: `must be of these, separated by commas: ${PREVIEWS.join(', ')}`,
  })
  .transform((words) => ({ tools: words.includes('tools') }));

export const environmentSchema = z.object({
  HOST: z
    .string()
    .default('127.0.0.1')
    .describe('plain HTTP listens on loopback only, unless SVC_ALLOW_PLAIN_HTTP allows more'),
  PORT: portSetting.default(8080).describe('where the API listens'),
  PUBLIC_URL: rootSetting
    .optional()
    .describe('the root that clients use; default: where the process listens'),
  TLS_CERT: z.string().optional().describe('path of a PEM certificate chain'),
  TLS_KEY: z.string().optional().describe('path of its key'),
  SVC_HSTS_SUBDOMAINS: booleanSetting
    .default(false)
    .describe('bind subdomains of this host to HTTPS too, not this host alone'),
  SVC_ALLOW_PLAIN_HTTP: booleanSetting
    .default(false)
    .describe('allow plain HTTP beyond loopback, behind a proxy that ends TLS'),
  SVC_ALLOW_LOOPBACK: booleanSetting
    .default(false)
    .describe('allow workers and webhooks on loopback; for development only'),
  SVC_ALLOW_BUILTIN_WORKERS: booleanSetting
    .default(false)
    .describe('give jobs to workers with the built-in engine; for development only'),
  SVC_CORS_ORIGINS: originsSetting
    .default([])
    .describe(
      'origins whose pages may call the API from a browser, separated by commas; default: none',
    ),
  SVC_CONSOLE_RPC_URL: httpUrlSetting
    .optional()
    .describe(
      "the ledger's node that the web app's pages call from browsers: public, so without a provider's secret key; default: each visitor names one",
    ),
  SVC_CONSOLE_DEVELOPMENT_WALLET_URL: httpUrlSetting
    .optional()
    .describe(
      'where the stack’s development wallet signs; refused beyond loopback and on any ledger that is not for development',
    ),
  SVC_CONSOLE_OPERATORS: addressListSetting
    .default([])
    .describe(
      'wallets that may suspend and reinstate API keys in the web app, separated by commas; default: none',
    ),
  SVC_PACKAGES_BUILD_PID: z.coerce
    .number()
    .int()
    .positive()
    .optional()
    .describe('the process that builds the packages, for which /packages/ waits; by npm start'),
  METRICS_HOST: z.string().default('127.0.0.1').describe('where /metrics is served'),
  METRICS_PORT: portSetting
    .optional()
    .describe('serves /metrics for Prometheus; default: not at all'),
  OTEL_EXPORTER_OTLP_ENDPOINT: rootSetting
    .optional()
    .describe(
      'root of an OpenTelemetry collector, such as http://127.0.0.1:4318; unset: no traces. Headers: OTEL_EXPORTER_OTLP_HEADERS',
    ),
  OTEL_TRACES_SAMPLER_ARG: z.coerce
    .number()
    .min(0)
    .max(1)
    .default(1)
    .describe('how many of all requests are traced, from 0 to 1'),
  SVC_TRUSTED_PROXY_HOPS: z.coerce
    .number()
    .int()
    .min(0)
    .default(0)
    .describe("how many proxies' X-Forwarded-For entries are believed"),
  SVC_BURST_REQUESTS: countSetting(1_000).describe(
    'requests at once per client address (IPv6: per /64)',
  ),
  SVC_BURST_REFILL_PER_SECOND: countSetting(200).describe('how many of them come back each second'),
  SVC_BURST_REFUSED_KEYS: countSetting(50).describe(
    'refused authentications at once per client address',
  ),
  SVC_BURST_REFUSED_KEYS_REFILL_PER_SECOND: countSetting(5).describe(
    'how many of those come back each second',
  ),
  SVC_WEBHOOK_REQUESTED_DELIVERIES_PER_MINUTE: countSetting(60).describe(
    'tests and replayed deliveries of webhooks, for each wallet and to each host; operators at a terminal have no limit',
  ),
  DATABASE_URL: databaseUrlSetting.describe('a PostgreSQL database'),
  SOLANA_RPC_URL: fetchedUrlSetting().describe("the ledger's node"),
  SOLANA_WS_URL: websocketUrlSetting
    .optional()
    .describe("its websocket; default: derived from the node's address"),
  HELIUS_API_KEY: z.string().optional().describe("take priority fees from Helius's estimate"),
  SVC_PROGRAM_ID: addressSetting
    .optional()
    .describe('the program; default: the id in the published interface'),
  SVC_COMMITMENT: commitmentSetting,
  SVC_TRANSACTION_VERSION: transactionVersionSetting,
  SVC_GATEWAY: addressSetting.describe('address of the Gateway account'),
  SVC_SIGNER_KEY: signerSetting.describe(
    'hot signer listed in it, which pays fees and rent; base58, JSON array, a path, or the pkcs11: URI of one in a PKCS#11 module',
  ),
  SVC_FEE_PAYER_KEYS: signerListSetting
    .default([])
    .describe(
      'keys that pay fees and rent where the hot signer cannot, separated by commas; default: none',
    ),
  SVC_SUBMISSIONS_MAX: countSetting(64).describe(
    "transactions given to the ledger's node at a time",
  ),
  SVC_SETTLEMENT_LINGER_MS: durationSetting(100, 0).describe(
    'so long a settlement waits for others although none is in flight; while one is, they share the next transaction anyway',
  ),
  SVC_ACKNOWLEDGEMENT_LINGER_MS: durationSetting(1_000, 250).describe(
    "so long an acknowledgement waits for others, or for its job's end, which contains it for one transaction less",
  ),
  ...secretsKeySettings,
  SVC_TOKENIZERS_DIR: z
    .string()
    .optional()
    .describe(
      "folder of <model id>.json, each a model's tokenizer.json, by which its tokens are counted; / in an id is spelled %2F; default: none",
    ),
  SVC_MODEL_CARDS_DIR: z
    .string()
    .optional()
    .describe(
      'folder of *.json, the cards of models; each is served once a model on the ledger pins its hash; default: none',
    ),
  SVC_SHUTDOWN_TIMEOUT_MS: shutdownTimeoutSetting
    .default(20_000)
    .describe(
      'how long running requests may take after a signal to end, 300000 at most; npm start insists after ten seconds',
    ),
  SVC_DRAIN_DELAY_MS: durationSetting(60_000, 0).describe(
    'how long a process still takes requests after a signal to end, while /health and /ready answer 503 and each answer closes its connection; behind a balancer 5000',
  ),
  SVC_PREVIEW: previewSetting
    .default(NO_PREVIEW)
    .describe(
      'what is turned on before it is for everybody: tools, which are calls of functions; default: nothing',
    ),
  LOG_LEVEL: logLevelSetting.describe('fatal, error, warn, info, debug, trace or silent'),
});

const consistentSchema = environmentSchema.refine(hasDistinctKeys, SAME_KEYS);

/** The API process's settings; every variable is described in `.env.example`. */
export type ApiConfig = z.infer<typeof environmentSchema>;

/** @throws ConfigError naming each variable that is missing or malformed */
export function loadConfig(environment: NodeJS.ProcessEnv = process.env): Readonly<ApiConfig> {
  return parseEnvironment(consistentSchema, environment);
}
