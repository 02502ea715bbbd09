import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { startChild } from '../../stack/child.ts';

const URL = 'http://127.0.0.1:4000';

let logFolder: string;
let logPath: string;
beforeEach(() => {
  logFolder = mkdtempSync(join(tmpdir(), 'svc-child-'));
  logPath = join(logFolder, 'part.log');
});
afterEach(() => rmSync(logFolder, { recursive: true }));

const start = (standIn: string, more: Partial<Parameters<typeof startChild>[0]> = {}) =>
  startChild({
    ...{ name: 'part', script: 'tests/stack/standIn.mjs', logFolder },
    environment: { STAND_IN: standIn },
    ...more,
  });

const log = () => readFileSync(logPath, 'utf8');

describe('a part of the stack', () => {
  it('gets only its settings and its parent’s id, and logs for its owner', async () => {
    const { ready, stop } = start('lists what it got');
    expect(await ready).toBe(URL);
    await stop();
    expect(log()).toBe('STAND_IN,SVC_PARENT_PID\n');
    expect(statSync(logPath).mode & 0o777).toBe(0o600);
  });

  it('starts an empty log at its first start, and appends to it at a restart', async () => {
    for (const [isRestart, lines] of [
      [false, 1],
      [true, 2],
      [false, 1],
    ] as const) {
      const { ready, stop } = start('lists what it got', { isRestart });
      await ready;
      await stop();
      expect(log().match(/STAND_IN/g)).toHaveLength(lines);
    }
  });

  it('cannot start, with its exit code and the last twelve lines of its log', async () => {
    const lastLines = Array.from({ length: 12 }, (_, index) => `line ${index + 9}`).join('\n');
    await expect(start('fails').ready).rejects.toMatchObject({
      name: 'StackError',
      message: `The part ended unexpectedly (exit code 1). Its last lines (${logPath}):\n${lastLines}`,
    });
  });

  it('cannot start when it reports nothing in time, and is killed', async () => {
    const { ready, exited } = start('is silent', { readyTimeoutMs: 200 });
    const how = 'was not ready after 0.2 seconds';
    await expect(ready).rejects.toThrow(`The part ${how}.`);
    expect(await exited).toMatchObject({ how });
  });

  it('dies with the signal that killed it, unlike a part that was stopped', async () => {
    const { ready, exited } = start('is killed');
    expect(await ready).toBe(URL);
    expect(await exited).toMatchObject({ how: 'ended unexpectedly (SIGKILL)' });

    const stopped = start('lists what it got');
    await stopped.ready;
    await stopped.stop();
    expect(await Promise.race([stopped.exited, Promise.resolve('nothing')])).toBe('nothing');
  });

  it('is killed when it does not end in time after SIGTERM', async () => {
    const { ready, stop } = start('ignores SIGTERM', { stopTimeoutMs: 100 });
    await ready;
    await stop();
    expect(() => process.kill(Number(log()), 0)).toThrow('ESRCH');
  });
});
