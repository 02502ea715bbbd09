import { ConfigError } from '../../common/config.ts';
import { CommandError } from '../terminal/output.ts';

/** @throws CommandError where a setting is malformed, or its file cannot be read */
export function explainedSettings<Result>(read: () => Result): Result {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    throw new CommandError(error.message, { cause: error });
  }
}
