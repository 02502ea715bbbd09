import { type DestinationStream, pino, stdSerializers } from 'pino';
import { z } from 'zod';

/** One object per call: `{ msg: 'Settled a job', job_id, … }`, in the past tense. */
export type Logger = pino.Logger;

export const logLevelSetting = z
  .enum(['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'])
  .default('info');

type LogLevel = z.infer<typeof logLevelSetting>;

/**
 * Structured JSON lines on standard error.
 *
 * Callers never pass credentials or texts. Redaction is the second line of defence: one that slips
 * into a logged object under its usual name still does not reach the log.
 *
 * @param options.into where the lines go instead
 */
export function createLogger(options: {
  name: string;
  level: LogLevel;
  into?: DestinationStream;
}): Logger {
  const { name, level, into = pino.destination(2) } = options;
  return pino(
    {
      name,
      level,
      formatters: { log: (entry) => redact(entry, LEVELS) as Record<string, unknown> },
      serializers: { err: (error) => redact(describeError(error), LEVELS - 1) },
    },
    into,
  );
}

/** How deep a line is looked through. */
const LEVELS = 4;

const PRIVATE_FIELDS: ReadonlySet<string> = new Set([
  'authorization',
  'api_key',
  'secret',
  'prompt',
  'messages',
  'content',
  'text',
]);

/**
 * What of a value may be logged: itself, or a copy without its private fields. pino's own redaction
 * looks each field up at each level by a path, which takes ten times as long as all else of a line.
 *
 * @param levels how deep it looks
 */
function redact(value: unknown, levels: number): unknown {
  if (levels === 0 || typeof value !== 'object' || value === null) return value;
  let copy: Record<string, unknown> | undefined;
  for (const [name, inner] of Object.entries(value)) {
    if (inner instanceof Error && name === 'err') continue; // Its serializer comes later.
    const kept = PRIVATE_FIELDS.has(name) ? '[redacted]' : redact(inner, levels - 1);
    if (kept === inner) continue;
    copy ??= (Array.isArray(value) ? [...value] : { ...value }) as Record<string, unknown>;
    copy[name] = kept;
  }
  return copy ?? value;
}

/**
 * pino writes a mark into an error that it describes, which fails for a frozen one. A log line must
 * never fail, so such an error is described by what every error has.
 */
function describeError(error: Error): unknown {
  try {
    return stdSerializers.err(error);
  } catch {
    const { name, message, stack } = error;
    return { type: name, message, stack };
  }
}
