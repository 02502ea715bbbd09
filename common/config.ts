import { closestMatch } from 'leven';
import { z } from 'zod';
import { SETTING_NAMES } from './settingNames.ts';

/** A process was started with an environment it cannot run on. The message names every variable. */
export class ConfigError extends Error {
  override name = 'ConfigError';
}

/** Variables of these names are the service's own, so that any unknown one is a mistake. */
export const OWN_NAME = /^(?:SVC|WORKER)_/;

/**
 * Reads one process's settings from its environment.
 *
 * An empty variable counts as absent, since that is how shells and `.env` files spell "not set".
 * Several processes may share one environment, so a setting of any of them is known to all.
 *
 * @returns the frozen, parsed settings
 * @throws ConfigError naming each variable that is missing, malformed or unknown, never its value
 */
export function parseEnvironment<Shape extends z.ZodRawShape>(
  shape: z.ZodObject<Shape>,
  environment: NodeJS.ProcessEnv,
): Readonly<z.infer<z.ZodObject<Shape>>> {
  const present = Object.fromEntries(
    Object.entries(environment).filter(([, value]) => value !== undefined && value !== ''),
  );
  const parsed = shape.safeParse(present);
  const unknown = Object.keys(present)
    .filter((name) => OWN_NAME.test(name) && !SETTING_NAMES.includes(name))
    .map((name) => `${name}: is no setting; the nearest is ${closestMatch(name, SETTING_NAMES)}`);
  if (parsed.success && unknown.length === 0) return Object.freeze(parsed.data);
  const faults = parsed.error?.issues.map(({ path, message }) => `${path.join('.')}: ${message}`);
  const all = [...unknown, ...(faults ?? [])].join('; ');
  throw new ConfigError(`The environment is not usable. ${all}`);
}

/** `true`, `1`, `false` or `0`; anything else is a mistake worth naming. */
export const booleanSetting = z
  .enum(['true', '1', 'false', '0'])
  .transform((text) => text === 'true' || text === '1');

/** A TCP port; 0 lets the system choose one. */
export const portSetting = z.coerce.number().int().min(0).max(65_535);

/**
 * How many milliseconds what is under way may take once a process is told to end. A job, with its
 * refund, has ended within the greatest of them.
 */
export const shutdownTimeoutSetting = z.coerce.number().int().min(1_000).max(300_000);
