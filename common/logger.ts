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
