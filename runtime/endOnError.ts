import { createLogger } from './logger.ts';

/**
 * Lets a process that ends by an error say so in its log, as a JSON line like all others, whether it
 * was at its start or later. It ends with exit code 1, as it would anyway.
 *
 * @param name the process's, as in its other lines
 */
export function endOnError(name: string): void {
  process.on('uncaughtException', (error) => {
    createLogger({ name, level: 'fatal' }).fatal({ msg: 'Ended by an error', err: error });
    process.exit(1);
  });
}
