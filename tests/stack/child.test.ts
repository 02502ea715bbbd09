import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { startChild, untilReady } from '../../stack/child.ts';

const URL = 'http://127.0.0.1:4000';

let logFolder: string;
let logPath: string;
let closing: (() => void)[];
beforeEach(() => {
  logFolder = mkdtempSync(join(tmpdir(), 'svc-child-'));
  logPath = join(logFolder, 'part.log');
  closing = [];
});
afterEach(() => {
  for (const close of closing) close();
  rmSync(logFolder, { recursive: true });
});

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

describe('waiting for a process that listens', () => {
  async function listen(answer: RequestListener): Promise<string> {
    const server = createServer(answer).listen(0, '127.0.0.1');
    closing.push(() => server.close().closeAllConnections());
    await once(server, 'listening');
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  }

  it('times out when it does not answer', async () => {
    const time = new AbortController();
    const url = await listen(() => time.abort());
    await expect(untilReady(url, time.signal)).rejects.toMatchObject({
      name: 'StackError',
      message: 'The mirror does not catch up: it does not answer',
    });
  });

  it('goes on after a broken connection, and times out with its last answer', async () => {
    const time = new AbortController();
    let requests = 0;
    const url = await listen((request, response) => {
      requests += 1;
      if (requests === 1) request.socket.destroy();
      else response.writeHead(503).end('lag 7');
      // It asks again once it has read an answer.
      if (requests === 3) time.abort();
    });
    const late = 'The mirror does not catch up: lag 7';
    await expect(untilReady(url, time.signal)).rejects.toThrow(late);
  });
});
