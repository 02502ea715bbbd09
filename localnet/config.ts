import { resolve } from 'node:path';
import { z } from 'zod';
import { booleanSetting, parseEnvironment, portSetting } from '../common/config.ts';
import { keypairSetting } from '../common/ledgerSettings.ts';
import { PROFILE_NAMES } from './profile.ts';

const whole = (min: number, max: number) => z.coerce.number().int().min(min).max(max);

export const profileSetting = z
  .enum(PROFILE_NAMES)
  .default('development')
  .describe('of the local ledger; mainnet: time, rent, limits and finality as there');

export const environmentSchema = z.object({
  LOCALNET_HOST: z
    .string()
    .default('127.0.0.1')
    .describe('where the local ledger listens; npm start starts it by itself'),
  LOCALNET_PORT: portSetting
    .default(0)
    .describe('of JSON-RPC; the websocket has the next one; 0: any free pair'),
  LOCALNET_DATA_DIR: z
    .string()
    .transform((path) => resolve(path))
    .optional()
    .describe('keeps the ledger between starts; npm start sets it by SVC_DATA_DIR'),
  LOCALNET_PROFILE: profileSetting,
  LOCALNET_SLOT_MS: whole(1, 10_000)
    .optional()
    .describe('between two blocks; default: 5, or 200 as on mainnet'),
  LOCALNET_CONFIRM_SLOTS: whole(0, 31)
    .default(0)
    .describe('in development, after which a block is confirmed; 0: as soon as it is closed'),
  LOCALNET_UNRELIABLE: whole(0, Number.MAX_SAFE_INTEGER)
    .optional()
    .describe('a seed: sends are lost, slots have no block, and lists change their order'),
  LOCALNET_DEVELOPMENT: booleanSetting
    .default(false)
    .describe('allow methods that write accounts and move the Clock'),
  LOCALNET_PAYER_KEY: keypairSetting.describe('has lamports from the start, and the program'),
});

/** The settings of the local ledger's process. */
export type LocalnetConfig = Readonly<z.infer<typeof environmentSchema>>;

/** @throws ConfigError naming each variable that is missing or malformed */
export function loadConfig(environment: NodeJS.ProcessEnv = process.env): LocalnetConfig {
  return parseEnvironment(environmentSchema, environment);
}
