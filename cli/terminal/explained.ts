import { SetupError } from '../../worker/setup/setupError.ts';
import { CommandError } from './output.ts';

/** @throws CommandError where the owner has to do something first */
export async function explained<Result>(
  work: Promise<Result> | (() => Promise<Result>),
): Promise<Result> {
  try {
    return await (typeof work === 'function' ? work() : work);
  } catch (error) {
    if (!(error instanceof SetupError)) throw error;
    throw new CommandError(error.message, { cause: error });
  }
}
