import { z } from 'zod';

/** A process was started with an environment it cannot run on. The message names every variable. */
export class ConfigError extends Error {
  override name = 'ConfigError';
}

/**
 * Reads one process's settings from its environment.
 *
 * An empty variable counts as absent, since that is how shells and `.env` files spell "not set".
 *
 * @returns the frozen, parsed settings
 * @throws ConfigError naming each variable that is missing or malformed, never its value
 */
export function parseEnvironment<Shape extends z.ZodRawShape>(
  shape: z.ZodObject<Shape>,
  environment: NodeJS.ProcessEnv,
): Readonly<z.infer<z.ZodObject<Shape>>> {
  const present = Object.fromEntries(
    Object.entries(environment).filter(([, value]) => value !== undefined && value !== ''),
  );
  const parsed = shape.safeParse(present);
  if (parsed.success) return Object.freeze(parsed.data);
  const faults = parsed.error.issues.map((issue) => `${issue.path.join('.')}: ${issue.message}`);
  throw new ConfigError(`The environment is not usable. ${faults.join('; ')}`);
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
