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
 * Redaction is the second line of defence: callers never pass credentials or texts, and should one
 * slip into a logged object under its usual name, it still does not reach the log.
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
      serializers: { err: describeError },
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
    into,
  );
}

/**
 * pino marks what it describes, which an error that was frozen refuses. A log line must never be
 * what fails: of such an error it tells what every error has.
 */
function describeError(error: Error): unknown {
  try {
    return stdSerializers.err(error);
  } catch {
    const { name, message, stack } = error;
    return { type: name, message, stack };
  }
}
