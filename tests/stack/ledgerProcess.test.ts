import { type ChildProcess, spawn } from 'node:child_process';
import { afterEach, describe, expect, it } from '@jest/globals';
import { type LedgerProcess, startLedgerProcess } from '../../stack/ledgerProcess.ts';
import { until } from './startedStack.ts';

const URLS = { url: 'http://127.0.0.1:9', wsUrl: 'ws://127.0.0.1:9' };
const SILENT = 'exec sleep 600';
const READY = `echo '${JSON.stringify({ ready: true, ...URLS })}'; ${SILENT}`;
const PORT_TAKEN = `echo "Error: WebSocket port 9 is already in use." >&2; ${SILENT}`;
const NEVER_MS = 3_600_000;
const FAILING = 'echo "the port is taken" >&2; exit 3';

let started: ChildProcess[];
let deaths: string[];
afterEach(() => {
  for (const child of started) child.kill('SIGKILL');
});

/** Each start runs the next of the scripts. */
function start(scripts: readonly string[], timeoutMs = 2_000): Promise<LedgerProcess> {
  started = [];
  deaths = [];
  return startLedgerProcess({
    timeoutMs,
    spawnLedger() {
      const script = scripts[started.length];
      if (!script) throw new Error('no more starts were expected');
      const child = spawn('sh', ['-c', script], { stdio: ['ignore', 'pipe', 'pipe'] });
      started.push(child);
      return child;
    },
    onDeath: ({ message }) => void deaths.push(message),
  });
}

const signals = () => started.map(({ signalCode }) => signalCode);

describe('a process that has a ledger in it', () => {
  it('is killed and replaced when it never becomes ready', async () => {
    const { rpcUrl, wsUrl } = await start([SILENT, READY]);
    expect({ url: rpcUrl, wsUrl }).toEqual(URLS);
    expect(signals()).toEqual(['SIGKILL', null]);
  });

  it('is replaced when it ends or says something else', async () => {
    await start([FAILING, `echo hello; ${SILENT}`, READY]);
    expect(signals()).toEqual([null, 'SIGKILL', null]);
  });

  it('is replaced at once when it finds its port taken, after which it would wait for ever', async () => {
    await start([PORT_TAKEN, READY], NEVER_MS);
    expect(signals()).toEqual(['SIGKILL', null]);
  });

  it('is given up after the third that ends, with its last words', async () => {
    const failure = start([FAILING, FAILING, `echo "at last" >&2; ${FAILING}`]);
    await expect(failure).rejects.toThrow(
      'The embedded ledger did not start in 3 attempts. The last ended unexpectedly ' +
        '(exit code 3). Its last words:\nat last\nthe port is taken',
    );
  });

  it('is given up after the third that says something else, which is told', async () => {
    const failure = start(Array(3).fill(`echo hello; ${SILENT}`));
    await expect(failure).rejects.toThrow(
      'The last said something else than that it is ready: hello',
    );
    expect(signals()).toEqual(Array(3).fill('SIGKILL'));
  });

  it('is given up after the third that stays silent, and none is left behind', async () => {
    const failure = start([SILENT, SILENT, `echo "I wait" >&2; ${SILENT}`], 200);
    await expect(failure).rejects.toThrow(
      'The last did not become ready within 0.2 seconds. Its last words:\nI wait',
    );
    expect(signals()).toEqual(Array(3).fill('SIGKILL'));
  });

  it('is ended by closing it, which is no death to tell', async () => {
    const ledger = await start([READY]);
    await ledger.close();
    expect(signals()).toEqual(['SIGKILL']);
    await ledger.close();
    expect(deaths).toEqual([]);
  });

  it('is told of when it ends unasked, and can be closed all the same', async () => {
    const ledger = await start([READY.replace(SILENT, FAILING)]);
    await until(() => deaths.length > 0);
    expect(deaths).toEqual([
      'The embedded ledger ended unexpectedly (exit code 3). Its last words:\nthe port is taken',
    ]);
    await ledger.close();
  });
});
