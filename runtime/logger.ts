import { pino } from 'pino';
import { z } from 'zod';

/** One object per call: `{ msg: 'Settled a job', job_id, … }`, in the past tense. */
export type Logger = pino.Logger;

export const logLevelSetting = z
  .enum(['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'])
  .default('info');

export type LogLevel = z.infer<typeof logLevelSetting>;

/**
 * Structured JSON lines on standard error.
 *
 * Redaction is the second line of defence: callers never pass credentials or texts, and should one
 * slip into a logged object under its usual name, it still does not reach the log.
 */
export function createLogger({ name, level }: { name: string; level: LogLevel }): Logger {
  return pino(
    {
      name,
      level,
      redact: {
        paths: [
          'authorization',
          'api_key',
          'secret',
          'prompt',
          'messages',
          'content',
          'text',
        ].flatMap((key) => [key, `*.${key}`, `*.*.${key}`]),
        censor: '[redacted]',
      },
    },
    pino.destination(2),
  );
}
