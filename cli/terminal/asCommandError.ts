import { CommandError } from './output.ts';

type ErrorClass = abstract new (...parameters: never[]) => Error;

/** Explains errors of these classes by their own messages, and no others. */
export function messageOf(...classes: readonly ErrorClass[]): (error: Error) => string | undefined {
  return (error) => (classes.some((one) => error instanceof one) ? error.message : undefined);
}

/**
 * Does part of a command's work. An error that the caller of the command can correct is thrown as a
 * CommandError, whose message alone is printed.
 *
 * @param work may return a promise
 * @param explain the message of the CommandError; undefined where the error stays as it is
 */
export function asCommandError<Result>(
  work: () => Result,
  explain: (error: Error) => string | undefined,
): Result {
  const fail = (error: unknown): never => {
    const message = explain(error as Error);
    throw message === undefined ? error : new CommandError(message, { cause: error });
  };
  try {
    const result = work();
    return result instanceof Promise ? (result.catch(fail) as Result) : result;
  } catch (error) {
    return fail(error);
  }
}
