import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Keypair } from '@solana/web3.js';
import { createStartChecks as createApiChecks } from '../../api/checks.ts';
import { loadConfig as loadApiConfig } from '../../api/config.ts';
import { runStartChecks, type StartCheck } from '../../common/startChecks.ts';
import { createStartChecks as createIndexerChecks } from '../../indexer/checks.ts';
import { loadConfig as loadIndexerConfig } from '../../indexer/config.ts';
import { findFreePort } from '../../stack/port.ts';
import { MACHINE_ENVIRONMENT } from '../../testing/childProcess.ts';
import { type RunningService, startRunningService } from '../../testing/service/runningService.ts';
import { createStartChecks as createWorkerChecks } from '../../worker/checks.ts';
import { loadConfig as loadWorkerConfig } from '../../worker/config.ts';

const ROOT = join(import.meta.dirname, '../..');
let service: RunningService;

beforeAll(async () => {
  service = await startRunningService({ workers: ['honest'] });
});

afterAll(() => service?.close());

/** Starts a process with `--check` and waits for its end. */
function start(main: string, environment: Record<string, string>) {
  const env = { ...MACHINE_ENVIRONMENT, ...environment };
  return new Promise<{ code: number; lines: string[] }>((resolve) => {
    execFile(process.execPath, [join(ROOT, main), '--check'], { env }, (error, out) => {
      const lines = out.split('\n').filter((line) => line !== '');
      resolve({ code: Number(error?.code ?? 0), lines });
    });
  });
}

/** What such a process does, in this one. */
async function check(checks: readonly StartCheck[]) {
  const lines: string[] = [];
  const isAllWell = await runStartChecks(checks, (line) => lines.push(line));
  return { isAllWell, lines };
}

const secretOf = ({ secretKey }: Keypair) => JSON.stringify([...secretKey]);
const failed = (lines: readonly string[]) => lines.filter((line) => line.startsWith('FAILED'));

describe('an API that is started with --check', () => {
  it('names everything that it tried and ends with 0 when all holds', async () => {
    const { code, lines } = await start('api/main.ts', service.apiEnvironment);
    expect(failed(lines)).toEqual([]);
    expect(code).toBe(0);
    expect(lines.map((line) => line.slice(8, 24).trim())).toEqual([
      ...['database', 'mirror', 'node', 'websocket', 'program', 'gateway', 'signer'],
      ...['fee payers', 'certificate', 'port'],
    ]);
  });

  it('finds a foreign gateway and a database that is not there', async () => {
    const stranger = Keypair.generate();
    const config = loadApiConfig({
      ...service.apiEnvironment,
      SVC_GATEWAY: stranger.publicKey.toBase58(),
      DATABASE_URL: 'postgres://svc:hunter2@127.0.0.1:1/svc',
    });
    const { isAllWell, lines } = await check(createApiChecks(config));
    expect(isAllWell).toBe(false);
    expect(failed(lines)).toEqual([
      expect.stringContaining('database'),
      expect.stringContaining('mirror'),
      expect.stringContaining(`SVC_GATEWAY ${stranger.publicKey} is no Gateway`),
    ]);
    expect(lines.join('\n')).not.toContain('hunter2');
  });
});

describe('a worker that is started with --check', () => {
  const settings = () => ({
    WORKER_ENGINE: 'builtin',
    WORKER_PORT: '0',
    WORKER_METRICS_PORT: '0',
    WORKER_GATEWAYS: service.apiEnvironment.SVC_GATEWAY ?? '',
    WORKER_AUTHORITY: Keypair.generate().publicKey.toBase58(),
    WORKER_PROOF_KEY: secretOf(Keypair.generate()),
    SOLANA_RPC_URL: service.ledger.rpcUrl,
  });

  it('names all that it tried, and finds no fault before its registration', async () => {
    const { isAllWell, lines } = await check(createWorkerChecks(loadWorkerConfig(settings())));
    expect([isAllWell, failed(lines)]).toEqual([true, []]);
    expect(lines.map((line) => line.slice(8, 24).trim())).toEqual([
      ...['program', 'account', 'gateways', 'upstream', 'port', 'metrics port'],
    ]);
    expect(lines[1]).toContain('This worker takes no jobs: its account does not exist');
  });

  it('finds a foreign gateway and an upstream that is not there', async () => {
    const { WORKER_ENGINE: _engine, ...others } = settings();
    const stranger = Keypair.generate().publicKey.toBase58();
    const { code, lines } = await start('worker/main.ts', {
      ...others,
      WORKER_GATEWAYS: stranger,
      WORKER_UPSTREAM_URL: `http://127.0.0.1:${await findFreePort()}/v1`,
    });
    expect(code).toBe(1);
    expect(failed(lines)).toEqual([
      expect.stringContaining(`There is no Gateway at ${stranger}`),
      expect.stringContaining('nothing listens at its address (ECONNREFUSED)'),
    ]);
  });
});

describe('an API of another deployment', () => {
  it('ends its start with one plain sentence about the gateway', async () => {
    const address = Keypair.generate().publicKey.toBase58();
    const starting = service.startApiProcess({ SVC_GATEWAY: address });
    await expect(starting).rejects.toThrow(`"msg":"SVC_GATEWAY ${address} is no Gateway of`);
  });
});

describe('an indexer that is started with --check', () => {
  it('finds the schema, the mirror of this ledger and the crank', async () => {
    const { code, lines } = await start('indexer/main.ts', service.indexerEnvironment);
    expect([code, failed(lines)]).toEqual([0, []]);
    expect(lines.join('\n')).toMatch(/mirror +of this ledger and program/);
  });

  it('refuses the mirror of another program, and a crank without SOL', async () => {
    const config = loadIndexerConfig({
      ...service.indexerEnvironment,
      SVC_PROGRAM_ID: Keypair.generate().publicKey.toBase58(),
      SVC_CRANK_KEY: secretOf(Keypair.generate()),
    });
    const { isAllWell, lines } = await check(createIndexerChecks(config));
    expect(isAllWell).toBe(false);
    expect(failed(lines)).toEqual([
      expect.stringContaining('was never initialized'),
      expect.stringContaining('each needs its own database'),
      expect.stringContaining('has 0 lamports'),
    ]);
  });
});

describe('a local ledger that is started with --check', () => {
  it('opens its ledger and ends', async () => {
    const payer = secretOf(Keypair.generate());
    const { code, lines } = await start('localnet/main.ts', { LOCALNET_PAYER_KEY: payer });
    expect([code, failed(lines)]).toEqual([0, []]);
  });
});
