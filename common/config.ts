import { readFileSync } from 'node:fs';
import { closestMatch } from 'leven';
import { z } from 'zod';
import { SETTING_NAMES } from './settingNames.ts';

/** A process was started with an environment it cannot run on. */
export class ConfigError extends Error {
  override name = 'ConfigError';
  /** A sentence for each fault, which names the variable and never its value. */
  readonly faults: readonly string[];

  constructor(faults: string | readonly string[]) {
    const all = [faults].flat();
    super(all.join('\n'));
    this.faults = all;
  }
}

/** Variables of these names are the service's own, so that any unknown one is a mistake. */
export const OWN_NAME = /^(?:SVC|WORKER)_/;

/** `<name>_FILE` names a file that holds the setting, as secrets are mounted into containers. */
export const FILE_SUFFIX = '_FILE';

/**
 * Reads one process's settings from its environment.
 *
 * An empty variable counts as absent, since that is how shells and `.env` files spell "not set".
 * Several processes may share one environment, so a setting of any of them is known to all. Any
 * setting may come from a file that `<name>_FILE` names.
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
  const unknown = Object.keys(present)
    .filter((name) => OWN_NAME.test(name) && !isKnown(name))
    .map((name) => `${name}: is no setting; the nearest is ${closestMatch(name, SETTING_NAMES)}`);
  const files = readFiles(Object.keys(shape.shape), present);
  const parsed = shape.safeParse({ ...present, ...files.settings }, { error: describeFault });
  // A fault of a file is reported once, not as a missing setting, too.
  const faults = parsed.error?.issues
    .filter(({ path }) => !files.unreadable.includes(String(path[0])))
    .map(({ path, message }) => `${String(path[0])}: ${message}`);
  const all = [...new Set([...unknown, ...files.faults, ...(faults ?? [])])];
  if (parsed.success && all.length === 0) return Object.freeze(parsed.data);
  throw new ConfigError(all);
}

/** Says in plain words what a setting must be; a schema's own words come first. */
function describeFault(issue: z.core.$ZodRawIssue): string {
  switch (issue.code) {
    case 'invalid_type':
      if (issue.input === undefined) return 'is required';
      return issue.expected === 'int' ? 'must be a whole number' : `must be a ${issue.expected}`;
    case 'invalid_value':
      return `must be ${issue.values.length > 1 ? 'one of ' : ''}${issue.values.join(', ')}`;
    case 'too_small':
      return `must be ${issue.inclusive ? 'at least' : 'more than'} ${issue.minimum}`;
    case 'too_big':
      return `must be ${issue.inclusive ? 'at most' : 'less than'} ${issue.maximum}`;
    case 'invalid_format':
      return issue.format === 'base64' ? 'must be base64' : 'has the wrong form';
    default:
      return 'has the wrong form';
  }
}

function isKnown(name: string): boolean {
  const base = name.endsWith(FILE_SUFFIX) ? name.slice(0, -FILE_SUFFIX.length) : name;
  return SETTING_NAMES.includes(name) || SETTING_NAMES.includes(base);
}

const FILE_REMEDIES: Readonly<Record<string, string>> = {
  ENOENT: 'there is no such file',
  EISDIR: 'it is a folder, so name a file in it',
  EACCES: 'this user may not read it, so chown or chmod it',
};

/** Why a file cannot be read, with its path and what to do. */
export function describeUnreadable(path: string, error: unknown): string {
  const { code = 'error' } = error as NodeJS.ErrnoException;
  const remedy = FILE_REMEDIES[code];
  return `cannot read ${path} (${code})${remedy ? `: ${remedy}` : ''}`;
}

/** The settings that come from files, without the line end that editors and `echo` put behind them. */
function readFiles(names: readonly string[], environment: NodeJS.ProcessEnv) {
  const settings: Record<string, string> = {};
  const unreadable: string[] = [];
  const faults: string[] = [];
  for (const name of names) {
    const path = environment[name + FILE_SUFFIX];
    if (!path) continue;
    if (environment[name]) {
      faults.push(`${name}: set either this or ${name}${FILE_SUFFIX}, not both`);
      continue;
    }
    try {
      settings[name] = readFileSync(path, 'utf8').replace(/\r?\n$/, '');
    } catch (error) {
      unreadable.push(name);
      faults.push(`${name}${FILE_SUFFIX}: ${describeUnreadable(path, error)}`);
    }
  }
  return { settings, unreadable, faults };
}

/**
 * One setting by itself, from the environment or from its file; undefined where neither has it.
 *
 * @throws ConfigError when the file cannot be read, or both are set
 */
export function readSetting(name: string, environment: NodeJS.ProcessEnv): string | undefined {
  const { settings, faults } = readFiles([name], environment);
  if (faults.length > 0) throw new ConfigError(faults);
  return (settings[name] ?? environment[name]) || undefined;
}

/** `true`, `1`, `false` or `0`; anything else is a mistake worth naming. */
export const booleanSetting = z
  .enum(['true', '1', 'false', '0'])
  .transform((text) => text === 'true' || text === '1');

/** A whole number in these bounds, both included. */
export const wholeSetting = (min: number, max = Number.MAX_SAFE_INTEGER) =>
  z.coerce.number().int().min(min).max(max);

/** A TCP port; 0 lets the system choose one. */
export const portSetting = wholeSetting(0, 65_535);

/**
 * How many milliseconds running work may take once a process has been asked to end. A job, with its
 * refund, ends within the greatest of them.
 */
export const shutdownTimeoutSetting = wholeSetting(1_000, 300_000);
