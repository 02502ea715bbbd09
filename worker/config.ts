import { z } from 'zod';
import { parseEnvironment, portSetting, shutdownTimeoutSetting } from '../common/config.ts';
import { addressSetting, keypairSetting } from '../common/ledgerSettings.ts';
import { logLevelSetting } from '../common/logger.ts';
import { fetchedUrlSetting } from '../common/net/urls.ts';
import { PROGRAM_ID } from '../programs/client/addresses.ts';

/** `fetch` would refuse a key that fits no header, and would quote it in the error of every job. */
const bearerKeySetting = z.string().refine((key) => {
  try {
    return new Headers({ authorization: `Bearer ${key}` });
  } catch {
    return false;
  }
}, 'cannot be sent in a header');

const environmentSchema = z.object({
  WORKER_HOST: z.string().default('127.0.0.1'),
  WORKER_PORT: portSetting.default(8090),
  /** Public key that registered this worker. */
  WORKER_AUTHORITY: addressSetting,
  /** Secret key whose public half is registered as the worker's proof key. */
  WORKER_PROOF_KEY: keypairSetting,
  /** The worker's capacity: jobs at the same time. */
  WORKER_SLOTS: z.coerce.number().int().min(1).max(100_000).default(128),
  /** Without it, the built-in engine answers. */
  WORKER_UPSTREAM_URL: fetchedUrlSetting(' (a key goes into WORKER_UPSTREAM_KEY)').optional(),
  WORKER_UPSTREAM_MODEL: z.string().optional(),
  WORKER_UPSTREAM_KEY: bearerKeySetting.optional(),
  WORKER_ENGINE_TOKEN_DELAY_MS: z.coerce.number().int().min(0).max(60_000).default(0),
  /** Most answers end within the default. Common supervisors kill after ten seconds. */
  WORKER_SHUTDOWN_TIMEOUT_MS: shutdownTimeoutSetting.default(8_000),
  SOLANA_RPC_URL: fetchedUrlSetting(),
  SVC_PROGRAM_ID: addressSetting.default(PROGRAM_ID),
  LOG_LEVEL: logLevelSetting,
});

/** The worker process's settings; every variable is described in `.env.example`. */
export type WorkerConfig = Readonly<z.infer<typeof environmentSchema>>;

/** @throws ConfigError naming each variable that is missing or malformed */
export function loadConfig(environment: NodeJS.ProcessEnv = process.env): WorkerConfig {
  return parseEnvironment(environmentSchema, environment);
}
