import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Keypair, LAMPORTS_PER_SOL, type PublicKey } from '@solana/web3.js';
import { fetchConfig, fetchWorker } from '../../programs/client/accounts.ts';
import { createAddresses } from '../../programs/client/addresses.ts';
import { mintTo, submit } from '../../stack/operator.ts';
import { findFreePort } from '../../stack/port.ts';
import { MACHINE_ENVIRONMENT, SVC_MAIN } from '../../testing/childProcess.ts';
import { runCli } from '../../testing/cli.ts';
import { type RunningService, startRunningService } from '../../testing/service/runningService.ts';
import { until } from '../../testing/until.ts';
import { leaveService } from '../../worker/setup/leave.ts';
import { type Reply, startUpstream, type UpstreamServer } from '../worker/upstreamServer.ts';

const UPSTREAM_NAME = 'Qwen/Qwen3-8B-AWQ';
const COOLDOWN_SECONDS = 48 * 3_600;

let service: RunningService;
let upstream: UpstreamServer;
let folder: string;
let port: number;
beforeAll(async () => {
  [service, upstream] = await Promise.all([
    startRunningService({
      workers: [],
      apiSettings: async ({ SOLANA_RPC_URL }) => ({ SVC_CONSOLE_RPC_URL: SOLANA_RPC_URL }),
    }),
    startUpstream(),
  ]);
  upstream.answerWith(answer);
  upstream.answerTrialsWith(answerTrial);
  folder = join(mkdtempSync(join(tmpdir(), 'svc-worker-')), 'worker');
  port = await findFreePort();
});
afterAll(async () => {
  for (const child of children) child.kill('SIGKILL');
  await service.close();
  upstream.close();
  rmSync(join(folder, '..'), { recursive: true });
});

function answer(reply: Reply): void {
  reply.text('Good morning.');
  reply.complete('stop', 5, 3);
}

function answerTrial(reply: Reply, model: string | undefined): void {
  if (model !== undefined) answer(reply);
  else reply.refuse(200, { data: [{ id: 'nomic-embed-text' }, { id: UPSTREAM_NAME }] });
}

const children: ChildProcess[] = [];

/** Starts `svc worker run`. */
function startRun() {
  const child = spawn(process.execPath, [SVC_MAIN, 'worker', 'run', '--dir', folder], {
    env: { ...MACHINE_ENVIRONMENT, LOG_LEVEL: 'silent' },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  children.push(child);
  let errors = '';
  child.stderr.on('data', (chunk) => {
    errors += chunk;
  });
  return {
    exited: once(child, 'close').then(([code]) => code as number | null),
    written: () => errors,
    end: () => void child.kill('SIGTERM'),
  };
}

/** Runs `svc worker` to its end. */
const run = (...args: string[]) => runCli(['worker', ...args, '--dir', folder]);

/** @param changes undefined leaves an option out */
const initialize = (changes: Record<string, string | undefined> = {}) => {
  const options = {
    service: service.baseUrl,
    upstream: upstream.url,
    port: String(port),
    endpoint: `http://127.0.0.1:${port}`,
    ...changes,
  };
  const given = Object.entries(options).filter(([, value]) => value !== undefined);
  return run('init', ...given.flatMap(([name, value]) => [`--${name}`, String(value)]));
};

const settingsText = () => readFileSync(join(folder, 'worker.env'), 'utf8');

function authorityKey(): Keypair {
  const bytes = JSON.parse(readFileSync(join(folder, 'authority.json'), 'utf8'));
  return Keypair.fromSecretKey(Uint8Array.from(bytes));
}

const authority = (): PublicKey => authorityKey().publicKey;

const ownWorker = () =>
  fetchWorker(service.ledger.connection, createAddresses().worker(authority()), {
    commitment: 'confirmed',
  });

describe('svc worker init', () => {
  it.each<[string, Record<string, string | undefined>, string]>([
    ['no place at all', { service: undefined }, 'Say where: --service, or'],
    [
      'a gateway that is none',
      { gateway: Keypair.generate().publicKey.toBase58() },
      'no Gateway at',
    ],
    ['a mistyped gateway', { gateway: 'DqxZ' }, '--gateway takes addresses, or the word any'],
    ['an upstream that is away', { upstream: 'http://127.0.0.1:9/v1' }, 'No upstream answers at'],
    ['a stake below the minimum', { stake: '999' }, '--stake must be at least the minimum, 1000.'],
    ['a port that is none', { port: '65534' }, 'It must be a port from 1 to 65533.'],
    ['a model of no catalog', { model: 'qwen9=x' }, "The catalog has no model 'qwen9'"],
  ])('ends with one sentence for %s', async (_what, changes, sentence) => {
    const { code, error } = await initialize(changes);
    expect([code, error.trim().split('\n')]).toEqual([1, [expect.stringContaining(sentence)]]);
  });

  it('takes a node alone only with gateways, which win over the service’s', async () => {
    const node = { service: undefined, rpc: service.ledger.rpcUrl };
    const { code, error } = await initialize(node);
    expect([code, error]).toEqual([1, 'Say whose jobs: --gateway, or --service.\n']);
    for (const place of [node, {}]) {
      expect((await initialize({ ...place, gateway: 'any' })).error).toMatch(/^Send /);
      expect(settingsText()).toMatch(/^WORKER_GATEWAYS=any$/m);
    }
  });
});

describe('svc worker', () => {
  it('init without funds makes private keys, and says what to send where', async () => {
    const { code, error } = await initialize();
    expect(code).toBe(1);
    expect(error).toMatch(
      /^Send 0\.\d{4} SOL to \w+, and 1000 tokens of the mint \w+ to \w+\. Then/,
    );
    expect(error).toContain(authority().toBase58());
    expect(settingsText()).toContain(`WORKER_GATEWAYS=${service.apiEnvironment.SVC_GATEWAY}\n`);
    expect(settingsText()).toContain(`SOLANA_RPC_URL=${new URL(service.ledger.rpcUrl).href}\n`);
    for (const file of ['authority.json', 'proof-key.json', 'worker.env']) {
      expect(statSync(join(folder, file)).mode & 0o777).toBe(0o600);
    }
  });

  it('init with funds registers, stakes, and hosts the upstream’s models', async () => {
    const config = await fetchConfig(service.ledger.connection, createAddresses().config);
    if (!config) throw new Error('the program has no config');
    const stake = mintTo(service.operator, {
      mint: config.stakeMint,
      owner: authority(),
      baseUnits: 1_000n * 10n ** BigInt(config.stakeDecimals),
    });
    await submit(service.operator, stake.instructions);
    await service.ledger.fundLamports(authority(), LAMPORTS_PER_SOL / 10);
    const { code, output, error } = await initialize();
    expect([code, error]).toEqual([0, '']);
    expect(output).toContain(`${service.model.id} is its ${UPSTREAM_NAME}`);
    expect(await ownWorker()).toMatchObject({ stakeTokens: 1_000n, modelsLen: 1 });
    const again = await initialize();
    expect([again.code, again.error]).toEqual([0, '']);
    expect(await ownWorker()).toMatchObject({ stakeTokens: 1_000n, modelsLen: 1 });
  });

  it.each([
    ['WORKER_PORT', 0],
    ['WORKER_METRICS_PORT', 1],
  ])('run ends where the port of %s is taken, and names both', async (setting, next) => {
    // A trial without end, which would keep the process.
    upstream.answerTrialsWith(() => undefined);
    const other = createServer().listen(port + next, '127.0.0.1');
    await once(other, 'listening');
    const { exited, written } = startRun();
    expect(await exited).toBe(1);
    expect(written()).toBe(
      `${setting}: port ${port + next} is taken (EADDRINUSE); choose another\n` +
        `It reads the environment, and then ${join(folder, 'worker.env')}.\n`,
    );
    other.close();
    upstream.answerTrialsWith(answerTrial);
  });

  it('run takes jobs, status shows the earnings, stop leaves with the stake', async () => {
    const worker = startRun();
    const shown = () => service.get(`/v1/models/${service.model.id}`);
    await service.time.advanceUntil(until(async () => (await shown()).svc.active_workers === 1));
    const answered = await service.openai().chat.completions.create({
      model: service.model.id,
      messages: [{ role: 'user', content: 'Good morning' }],
    });
    expect(answered.choices[0]?.message.content).toBe('Good morning.');
    expect(upstream.requests.at(-1)?.body.model).toBe(UPSTREAM_NAME);
    await service.untilJobs((jobs) => jobs.some(({ data }) => data.status === 'settled'));

    const { output, error } = await run('status');
    expect(error).toBe('');
    // 85 percent of the 8 credits of a request.
    expect(output).toMatch(/Earned 6\.80 credits with 1 job in 7 days/);
    expect(output).toMatch(/^\d{4}-\d\d-\d\d {2}█{40} 6\.80 credits, 1 job$/m);
    expect(output).toMatch(new RegExp(`^${service.model.id} {2}█{40} 6\\.80 credits, 1 job$`, 'm'));
    expect(output).toMatch(/^Worker {11}\w+: active$/m);
    expect(output).toMatch(/^Endpoint .*: ready$/m);

    const steps: string[] = [];
    const { rpc, connection } = service.ledger;
    const leaving = leaveService({
      ...{ rpc, connection, addresses: createAddresses() },
      ...{ authority: authorityKey(), metricsPort: String(port + 1), time: service.time },
      report: (step) => steps.push(step),
    });
    await service.time.advanceUntil(leaving);
    expect(steps).toEqual([
      `Unhosted ${service.model.id}. Gateways send no further jobs.`,
      'No job runs any more. The process of svc worker run can be ended.',
      expect.stringMatching(/^Unlocked 1000 tokens\. /),
    ]);
    expect(await ownWorker()).toMatchObject({ modelsLen: 0, unstakingTokens: 1_000n });
    worker.end();
    await worker.exited;

    expect((await run('stop')).output).toContain('1000 tokens wait until');
    await service.advanceSeconds(COOLDOWN_SECONDS + 1);
    expect((await run('stop')).output).toContain('Withdrew 1000 tokens to');
    expect(await ownWorker()).toMatchObject({ stakeTokens: 0n, unstakingTokens: 0n });
  });
});
