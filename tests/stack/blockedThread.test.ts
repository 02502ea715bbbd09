import { execFile } from 'node:child_process';
import { describe, expect, it } from '@jest/globals';
import { endIfBlocked } from '../../stack/blockedThread.ts';

const MODULE = new URL('../../stack/blockedThread.ts', import.meta.url).href;
const BLOCKED = `
  import { endIfBlocked } from ${JSON.stringify(MODULE)};
  const never = () => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
  endIfBlocked(never, { timeoutMs: 100, words: 'It hangs.' });
`;

describe('work that may block its thread', () => {
  it('ends the process, and says why, when it does', async () => {
    const ended = await new Promise((resolve) => {
      const args = ['--input-type=module', '-e', BLOCKED];
      execFile(process.execPath, args, (error, _out, words) =>
        resolve({ signal: error?.signal, words }),
      );
    });
    expect(ended).toEqual({ signal: 'SIGKILL', words: 'It hangs.\n' });
  });

  it('is of no consequence when it does not', () => {
    const options = { timeoutMs: 60_000, words: '' };
    expect(endIfBlocked(() => 'done', options)).toBe('done');
    const failing = () => {
      throw new Error('refused');
    };
    expect(() => endIfBlocked(failing, options)).toThrow('refused');
  });
});
