import { resolve } from 'node:path';
import { z } from 'zod';
import { booleanSetting, parseEnvironment, portSetting } from '../common/config.ts';
import { keypairSetting } from '../common/ledgerSettings.ts';
import { SLOT_MS } from './start.ts';

const environmentSchema = z.object({
  LOCALNET_HOST: z.string().default('127.0.0.1'),
  /** Of JSON-RPC; the websocket has the next one. */
  LOCALNET_PORT: portSetting.default(0),
  LOCALNET_DATA_DIR: z
    .string()
    .transform((path) => resolve(path))
    .optional(),
  LOCALNET_SLOT_MS: z.coerce.number().int().min(1).max(10_000).default(SLOT_MS),
  LOCALNET_CONFIRM_SLOTS: z.coerce.number().int().min(0).max(31).default(0),
  LOCALNET_DEVELOPMENT: booleanSetting.default(false),
  /** Has lamports from the start, and is the program's upgrade authority. */
  LOCALNET_PAYER_KEY: keypairSetting,
});

/** The settings of the local ledger's process. */
export type LocalnetConfig = Readonly<z.infer<typeof environmentSchema>>;

/** @throws ConfigError naming each variable that is missing or malformed */
export function loadConfig(environment: NodeJS.ProcessEnv = process.env): LocalnetConfig {
  return parseEnvironment(environmentSchema, environment);
}
