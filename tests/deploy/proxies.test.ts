import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { delay } from '../../common/wait.ts';
import { findFreePort } from '../../stack/port.ts';
import type { StartedProcess } from '../../testing/childProcess.ts';
import { needs } from '../../testing/machine/needs.ts';
import { type RunningService, startRunningService } from '../../testing/service/runningService.ts';
import { until } from '../../testing/until.ts';

const PROXIES = [
  {
    name: 'haproxy',
    file: 'haproxy.cfg',
    run: (path: string) => ['-f', path],
    wanted: needs('haproxy'),
  },
  { name: 'nginx', file: 'nginx.conf', run: nginxArguments, wanted: needs('nginx') },
  { name: 'caddy', file: 'Caddyfile', run: caddyArguments, wanted: needs('caddy') },
] as const;
const CONFIGURATIONS = join(import.meta.dirname, '../../deploy/proxies');
/** `REQUESTS=1000 npm test -- tests/deploy/proxies` is the whole measure; each is a paid job. */
const REQUESTS_MIN = Number(process.env.REQUESTS ?? 60);
const CLIENTS = 6;
/** So that all clients together stay below the burst limit of their address, 200 a second. */
const PAUSE_MS = 40;
/** Enough for every request of every proxy: each costs 8. */
const CREDITS = BigInt(PROXIES.length * (REQUESTS_MIN + 5_000) * 8);

jest.setTimeout(300_000 + REQUESTS_MIN * 1_000);
/** Above the proxies' interval of health checks. */
const DRAIN_DELAY_MS = 5_000;

let service: RunningService;
let folder: string;

beforeAll(async () => {
  service = await startRunningService({ workers: ['honest', 'honest'], credits: CREDITS });
  folder = mkdtempSync(join(tmpdir(), 'proxies-'));
});

afterAll(async () => {
  await service?.close();
  rmSync(folder, { recursive: true, force: true });
});

function nginxArguments(path: string): string[] {
  return ['-p', folder, '-c', path, '-g', 'daemon off;'];
}

function caddyArguments(path: string): string[] {
  return ['run', '--config', path, '--adapter', 'caddyfile'];
}

/** The committed configuration, with the addresses of this test in place of the documented ones. */
async function startProxy(
  { name, file, run }: (typeof PROXIES)[number],
  instances: readonly number[],
): Promise<{ url: string; process: ChildProcess; logged: () => string }> {
  const port = await findFreePort();
  const text = instances.reduce(
    (written, instance, index) =>
      written.replaceAll(`api-${index + 1}:8080`, `127.0.0.1:${instance}`),
    readFileSync(join(CONFIGURATIONS, file), 'utf8').replaceAll(
      '127.0.0.1:8000',
      `127.0.0.1:${port}`,
    ),
  );
  const path = join(folder, file);
  writeFileSync(path, text);
  const started = spawn(name, run(path), {
    stdio: ['ignore', 'ignore', 'pipe'],
    env: { ...process.env, HOME: folder },
  });
  let log = '';
  started.stderr?.on('data', (part) => {
    log += part;
  });
  const url = `http://127.0.0.1:${port}`;
  await until(async () => {
    expect(started.exitCode).toBeNull();
    return (await fetch(`${url}/health`).catch(() => undefined))?.status === 200;
  });
  return { url, process: started, logged: () => log };
}

interface Instance {
  process: StartedProcess;
  /** Whether a client's request has come to it. */
  hasAnswered(): Promise<boolean>;
}

async function startInstance(port: number): Promise<Instance> {
  const metricsPort = await findFreePort();
  const process = await service.startApiProcess({
    PORT: String(port),
    METRICS_PORT: String(metricsPort),
    SVC_DRAIN_DELAY_MS: String(DRAIN_DELAY_MS),
    SVC_TRUSTED_PROXY_HOPS: '1',
  });
  const hasAnswered = async () => {
    const response = await fetch(`http://127.0.0.1:${metricsPort}/metrics`);
    return /^svc_api_requests_total{.*completions.*} [1-9]/m.test(await response.text());
  };
  return { process, hasAnswered };
}

/** Asks until `isOver`, and at least as often as `REQUESTS_MIN`. @returns how each request ended */
async function askThrough(url: string, isOver: () => boolean): Promise<string[]> {
  const ends: string[] = [];
  const client = async () => {
    while (!isOver() || ends.length < REQUESTS_MIN) {
      const asked = fetch(`${url}/v1/chat/completions`, {
        method: 'POST',
        headers: { authorization: `Bearer ${service.apiKey}`, 'content-type': 'application/json' },
        body: JSON.stringify({
          model: service.model.id,
          messages: [{ role: 'user', content: 'Hello.' }],
          stream: ends.length % 2 === 0,
        }),
      });
      ends.push(
        await asked.then(
          async (response) => `${response.status} ${endOf(await response.text())}`,
          (error: Error) => String(error.cause ?? error),
        ),
      );
      await delay(PAUSE_MS);
    }
  };
  await Promise.all(Array.from({ length: CLIENTS }, client));
  return ends;
}

const endOf = (text: string): string => (/\[DONE\]\n\n$|"usage":/.test(text) ? 'whole' : text);

const readText = (path: string) => readFileSync(path, 'utf8');

describe.each(PROXIES)('$file', ({ file }) => {
  const text = readText(join(CONFIGURATIONS, file));
  const [head = ''] = text.split(/^(?!#)/m);
  const names = new Set(text.match(/\bapi-\d:\d+|127\.0\.0\.1:8000\b|\{\$[A-Z_]+/g));
  const page = readText(join(CONFIGURATIONS, '../../docs/deploying.md'));
  const [, chapter = ''] = page.split("### The proxies' names to replace");

  it('says at its top what to replace, as the page does', () => {
    expect(names.size).toBeGreaterThan(2);
    for (const name of names) {
      const word = name.replace('{$', '');
      expect([word, head.includes(word), chapter.includes(word)]).toEqual([word, true, true]);
    }
  });
});

describe.each(PROXIES)('behind $name', (proxy) => {
  const { it } = proxy.wanted;

  it('no request is lost while each of two instances is replaced in turn', async () => {
    const ports = [await findFreePort(), await findFreePort()];
    const instances = await Promise.all(ports.map(startInstance));
    const { url, process: running, logged } = await startProxy(proxy, ports);
    try {
      let isReplaced = false;
      const replacing = (async () => {
        for (const [index, instance] of instances.entries()) {
          expect(await instance.process.terminate()).toBe(0);
          const { hasAnswered } = await startInstance(ports[index] as number);
          // The proxy has found it by a health check, so that the next instance may end.
          await until(hasAnswered);
        }
      })().finally(() => {
        isReplaced = true;
      });
      const ends = await askThrough(url, () => isReplaced);
      await replacing;
      const others = ends.filter((end) => end !== '200 whole');
      // With what the proxy said of them.
      expect(others.length > 0 ? [others, logged()] : []).toEqual([]);
      expect(ends.length).toBeGreaterThanOrEqual(REQUESTS_MIN);
    } finally {
      running.kill('SIGTERM');
      await once(running, 'exit');
    }
  });
});
