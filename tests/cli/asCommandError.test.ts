import { describe, expect, it } from '@jest/globals';
import { asCommandError, messageOf } from '../../cli/terminal/asCommandError.ts';
import { CommandError } from '../../cli/terminal/output.ts';
import { SetupError } from '../../worker/setup/setupError.ts';

const throwing = (error: Error) => () => {
  throw error;
};
const rejecting = (error: Error) => async () => throwing(error)();

describe('the errors of a command', () => {
  it('are CommandErrors with their message where an owner has to act', async () => {
    const error = new SetupError('The program is not set up.');
    const expected = new CommandError('The program is not set up.', { cause: error });
    const explain = messageOf(SetupError);
    expect(() => asCommandError(throwing(error), explain)).toThrow(expected);
    await expect(asCommandError(rejecting(error), explain)).rejects.toThrow(expected);
  });

  it('stay as they are where the command has no explanation', async () => {
    const error = new TypeError('unexpected');
    expect(() => asCommandError(throwing(error), messageOf(RangeError))).toThrow(error);
    await expect(asCommandError(rejecting(error), messageOf(RangeError))).rejects.toBe(error);
  });

  it('may have another message', () => {
    const explain = ({ message }: Error) => `--signer ${message}.`;
    const parse = () => asCommandError(throwing(new Error('is no key')), explain);
    expect(parse).toThrow('--signer is no key.');
  });

  it('leave a result as it is', async () => {
    expect(asCommandError(() => 1, messageOf(Error))).toBe(1);
    expect(await asCommandError(async () => 2, messageOf(Error))).toBe(2);
  });
});
