import { z } from 'zod';
import {
  parseEnvironment,
  portSetting,
  shutdownTimeoutSetting,
  wholeSetting,
} from '../common/config.ts';
import {
  addressListSetting,
  addressSetting,
  commitmentSetting,
  signerSetting,
} from '../common/ledgerSettings.ts';
import { logLevelSetting } from '../common/logger.ts';
import { fetchedUrlSetting } from '../common/net/urls.ts';
import { CAPACITY_MAX } from '../common/workerProtocol.ts';
import { PROGRAM_ID } from '../programs/client/addresses.ts';
import { BASIS_POINTS } from '../programs/client/generated/constants.ts';

/** `fetch` would refuse a key that fits no header, and would quote it in the error of every job. */
const bearerKeySetting = z.string().refine((key) => {
  try {
    return new Headers({ authorization: `Bearer ${key}` });
  } catch {
    return false;
  }
}, 'cannot be sent in a header');

/** `id=name` pairs; names of upstreams may hold anything but a comma. */
const modelMapSetting = z.string().transform((text, context) => {
  const pairs = text.split(',').map((pair) => {
    const [id = '', ...name] = pair.split('=');
    return [id.trim(), name.join('=').trim()] as const;
  });
  if (pairs.every(([id, name]) => id !== '' && name !== '')) return new Map(pairs);
  context.addIssue({ code: 'custom', message: 'must be id=name pairs, separated by commas' });
  return z.NEVER;
});

export const environmentSchema = z.object({
  WORKER_HOST: z.string().default('127.0.0.1').describe('where the worker takes jobs'),
  WORKER_PORT: portSetting.default(8090).describe('its port'),
  WORKER_AUTHORITY: addressSetting.describe('the authority of the Worker account'),
  WORKER_PROOF_KEY: signerSetting.describe(
    'signs proofs; base58, JSON array, the path of a file that only its owner can read, or the pkcs11: URI of a key in a module',
  ),
  WORKER_GATEWAYS: z
    .union([z.literal('any'), addressListSetting], {
      error: 'must be addresses of Gateways, separated by commas, or the word any',
    })
    .describe('whose jobs it takes: the addresses of Gateways, or the word any'),
  WORKER_SHARE_MIN_BASIS_POINTS: wholeSetting(0, Number(BASIS_POINTS))
    .default(8_500)
    .describe('the least part of a charge that it works for, in hundredths of a percent'),
  WORKER_SLOTS: wholeSetting(1, CAPACITY_MAX)
    .default(128)
    .describe("the worker's capacity: jobs at the same time"),
  WORKER_UPSTREAM_URL: fetchedUrlSetting(' (a key goes into WORKER_UPSTREAM_KEY)')
    .optional()
    .describe(
      'any chat-completions server, such as http://127.0.0.1:11434/v1; required without WORKER_ENGINE',
    ),
  WORKER_ENGINE: z
    .enum(['builtin'])
    .optional()
    .describe('builtin: strings words together in place of an upstream; for development only'),
  WORKER_UPSTREAM_MODEL: z
    .string()
    .optional()
    .describe('its name for all other models; default: the id the client asked for'),
  WORKER_MODELS: modelMapSetting
    .optional()
    .describe("the upstream's name for each model id, as id=name, separated by commas"),
  WORKER_UPSTREAM_KEY: bearerKeySetting.optional().describe('its bearer key'),
  WORKER_ENGINE_TOKEN_DELAY_MS: wholeSetting(0, 60_000)
    .default(0)
    .describe('slows the built-in engine down, to see a stream'),
  WORKER_METRICS_HOST: z.string().default('127.0.0.1').describe('where its metrics are served'),
  WORKER_METRICS_PORT: portSetting
    .optional()
    .describe('serves /metrics for Prometheus, and /jobs; default: not at all'),
  WORKER_SHUTDOWN_TIMEOUT_MS: shutdownTimeoutSetting
    .default(8_000)
    .describe('its jobs may take this long after the signal to end'),
  SOLANA_RPC_URL: fetchedUrlSetting().describe("the ledger's node"),
  SVC_PROGRAM_ID: addressSetting
    .default(PROGRAM_ID)
    .describe('the program; default: the id in the published interface'),
  SVC_COMMITMENT: commitmentSetting,
  LOG_LEVEL: logLevelSetting.describe('fatal, error, warn, info, debug, trace or silent'),
});

/** Both or neither would leave open who answers: a mistyped address must not become another engine. */
const consistentSchema = environmentSchema.refine(
  (config) => (config.WORKER_UPSTREAM_URL === undefined) !== (config.WORKER_ENGINE === undefined),
  { path: ['WORKER_UPSTREAM_URL'], error: 'set either this or WORKER_ENGINE=builtin, not both' },
);

/** The worker process's settings; every variable is described in `.env.example`. */
export type WorkerConfig = Readonly<z.infer<typeof environmentSchema>>;

/** @throws ConfigError naming each variable that is missing or malformed */
export function loadConfig(environment: NodeJS.ProcessEnv = process.env): WorkerConfig {
  return parseEnvironment(consistentSchema, environment);
}
