import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Keypair, LAMPORTS_PER_SOL, PublicKey } from '@solana/web3.js';
import { startCanary } from '../../api/canary/start.ts';
import { loadConfig } from '../../api/config.ts';
import { IDLE_MS } from '../../common/tokenizers/tokenCounts.ts';
import { fetchWorker } from '../../programs/client/accounts.ts';
import { MACHINE_ENVIRONMENT, SVC_MAIN } from '../../testing/childProcess.ts';
import { runCli } from '../../testing/cli.ts';
import { readTokenAccount } from '../../testing/ledger/tokens.ts';
import { readBooks } from '../../testing/ledger/walletBooks.ts';
import { bashOn } from '../../testing/machine/shell.ts';
import { type RunningService, startRunningService } from '../../testing/service/runningService.ts';
import { createScriptedEngine, createSolvingEngine } from '../../testing/workers/engines.ts';

const CREDITS = 1_000n;
const QUESTIONS = 4;

const solver = createSolvingEngine();
const garbage = createScriptedEngine();
garbage.play(async function* () {
  yield 'As a helpful assistant ';
  yield 'I would say that this depends.';
});
let service: RunningService;
/** Their addresses. */
let workers: Record<'solving' | 'agreeing' | 'talking' | 'forging' | 'dying', string>;

beforeAll(async () => {
  service = await startRunningService({
    workers: [solver, createSolvingEngine(), garbage, 'forged_signature', 'dies_midstream'],
  });
  const [solving, agreeing, talking, forging, dying] = service.workers.map((one) => one.address);
  workers = { solving, agreeing, talking, forging, dying } as typeof workers;
});

afterAll(() => service?.close());

const canaryArgs = (wallet: PublicKey, options: readonly string[]) => [
  ...['canary', '--model', service.model.id, '--wallet', wallet.toBase58()],
  ...['--questions', String(QUESTIONS), ...options],
];

const canary = (wallet: PublicKey, ...options: string[]) =>
  runCli(canaryArgs(wallet, options), { env: service.apiEnvironment });

/** Runs a command as the arbiter pastes it into a shell. */
async function runAsArbiter(command: string): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'arbiter-'));
  const key = JSON.stringify([...service.arbiter.secretKey]);
  writeFileSync(join(folder, 'arbiter.json'), key, { mode: 0o600 });
  const npx = 'npx() { shift; "$NODE" "$MAIN" "$@"; }';
  const { PATH } = process.env;
  const child = spawn(...bashOn(`${npx}\n${command}`), {
    ...{ cwd: folder, stdio: ['ignore', 'ignore', 'inherit'] },
    env: { PATH, NODE: process.execPath, MAIN: SVC_MAIN, RPC: service.ledger.rpcUrl },
  });
  const [code] = await once(child, 'exit');
  rmSync(folder, { recursive: true });
  expect(code).toBe(0);
}

/** What settlements paid the worker so far, in base units. */
async function paid(address: string): Promise<bigint> {
  const worker = service.workers.find((one) => one.address === address);
  if (!worker) throw new Error('no such worker');
  return (await readTokenAccount(service.ledger.connection, worker.payout)).amount;
}

describe('svc canary', () => {
  it('pays for proven answers and separates honest workers from others', async () => {
    const { address: wallet } = await service.addWallet(CREDITS);
    const wrong = 'right in 0 of 4, less than 0.6';
    const kept = { formats_judged: 1, formats_kept: 1 };
    const formless = 'kept the schema in 0 of 1';
    const unpaid = { jobs_proven: 0, tokens_claimed: 0, tokens_counted: 0, credits_charged: '0' };
    const unproven = (fault: string) => ({ faults: [`4 of 4 not proven: ${fault}`, wrong] });

    const { output, error, code } = await canary(wallet, '--seed', '7', '--json');

    expect([code, error]).toEqual([1, expect.stringMatching(/^Seed 7$/m)]);
    const report = JSON.parse(output);
    expect(report).toMatchObject({ passed: false, seed: 7, questions: 4, right_min: 0.6 });
    // The worker that came with the ledger's set-up is nowhere to be found.
    expect(report.silent).toHaveLength(1);
    const found = new Map<string, Record<string, string>>(
      report.workers.map((one: { worker: string }) => [one.worker, one]),
    );
    expect(Object.fromEntries(found)).toMatchObject({
      [workers.solving]: { jobs_proven: 4, answers_right: 4, ...kept, faults: [] },
      [workers.agreeing]: { jobs_proven: 4, answers_right: 4, ...kept, faults: [] },
      [workers.talking]: { jobs_proven: 4, answers_right: 0, faults: [wrong, formless] },
      [workers.forging]: { ...unpaid, ...unproven('proof_invalid') },
      [workers.dying]: { ...unpaid, ...unproven('worker_error') },
    });

    const verdicts = await service.pool.query(
      'select worker, has_passed, keeps_format from service.canary_verdicts',
    );
    const verdict = (
      name: keyof typeof workers,
      has_passed: boolean,
      keeps_format: boolean | null,
    ) => ({
      ...{ worker: workers[name], has_passed, keeps_format },
    });
    expect(new Set(verdicts.rows)).toEqual(
      new Set([
        ...[verdict('solving', true, true), verdict('agreeing', true, true)],
        ...[verdict('talking', false, false), verdict('forging', false, null)],
        verdict('dying', false, null),
      ]),
    );
    const { jobs, available, locked } = await readBooks(service, wallet);
    expect(jobs.map(({ reason }) => reason).sort()).toEqual([
      ...[...Array(12).fill('none'), ...Array(4).fill('proof_invalid')],
      ...Array(4).fill('worker_error'),
    ]);
    const charged = jobs.reduce((sum, job) => sum + job.charged, 0n);
    const reported = [...found.values()].map((one) => BigInt(one.credits_charged as string));
    expect(reported.reduce((sum, credits) => sum + credits)).toBe(charged);
    expect({ available, locked }).toEqual({ available: CREDITS - charged, locked: 0n });
    for (const address of [workers.forging, workers.dying]) expect(await paid(address)).toBe(0n);
    expect(await paid(workers.talking)).toBeGreaterThan(0n);
    await service.expectConserved();
  });

  it('asks only the named worker, with the same questions for the same seed', async () => {
    const { address: wallet } = await service.addWallet(CREDITS);
    const before = solver.chats.splice(0);
    const others = await paid(workers.agreeing);

    const { output, error, code } = await canary(
      wallet,
      ...['--seed', '7', '--worker', workers.solving],
    );

    expect(code).toBe(0);
    expect(output).toContain(`${service.model.id}: questions 4, workers 1, seed 7\n`);
    expect(output).toContain('Every worker passed.');
    expect(solver.chats).toEqual(before);
    expect(before).toHaveLength(QUESTIONS);
    for (const chat of before) {
      expect(chat).toMatchObject({ temperature: 0 });
      // Neither questions nor answers are printed.
      expect(`${output}${error}`).not.toContain(chat.messages[0]?.content);
    }
    const { jobs } = await readBooks(service, wallet);
    expect(jobs.map(({ status }) => status)).toEqual(Array(QUESTIONS).fill('settled'));
    expect(await paid(workers.agreeing)).toBe(others);
  });

  it('has those that failed get jobs only where no other is left', async () => {
    // The pool is read every second.
    service.time.advance(1_000);
    const answering = new Set<string>();
    for (let count = 0; count < 12; count += 1) {
      const { svc } = (await service.openai().chat.completions.create({
        model: service.model.id,
        messages: [{ role: 'user', content: 'What is 20 + 22?' }],
      })) as unknown as { svc: { worker: string } };
      answering.add(svc.worker);
    }
    expect([workers.solving, workers.agreeing]).toEqual(expect.arrayContaining([...answering]));
  });

  it('forces a tool where the service has them, and notes who called it', async () => {
    const { address } = await service.addWallet(CREDITS);
    const plan = {
      ...{ modelId: service.model.id, wallet: address.toBase58(), questions: 3, seed: 7 },
      ...{ rightMin: 0, interrupted: new AbortController().signal },
    };
    const config = loadConfig({ ...service.apiEnvironment, SVC_PREVIEW: 'tools' });
    const found = async (worker: string) => {
      const { workers: reports } = await startCanary(config, { ...plan, worker }, service.time);
      const { rows } = await service.pool.query(
        `select calls_tools, tools_called_at is not null as has_time
         from service.canary_verdicts where worker = $1`,
        [worker],
      );
      return { ...reports[0], ...rows[0] };
    };
    expect(await found(workers.agreeing)).toMatchObject({
      ...{ answers_right: 3, tools_judged: 1, tools_called: 1, faults: [] },
      ...{ calls_tools: true, has_time: true },
    });
    expect(await found(workers.talking)).toMatchObject({
      ...{ tools_judged: 1, tools_called: 0, calls_tools: false, has_time: false },
      faults: expect.arrayContaining(['called the tool in 0 of 1']),
    });
  });

  it('reports which worker failed and why, and how to suspend it', async () => {
    const { address: wallet } = await service.addWallet(CREDITS);
    await service.ledger.fundLamports(service.arbiter.publicKey, LAMPORTS_PER_SOL);

    const { output, error, code } = await canary(wallet, '--worker', workers.talking);

    const [, seed] = /^Seed (\d+)$/m.exec(error) ?? [];
    expect(code).toBe(1);
    expect(output).toContain(`seed ${seed}\n`);
    expect(output).toContain(
      `${workers.talking} FAILED: right in 0 of 4, less than 0.6; kept the schema in 0 of 1.`,
    );
    const [command = ''] = /^npx svc send worker_suspend .+$/m.exec(output) ?? [];
    await runAsArbiter(command);
    const { connection } = service.ledger;
    const worker = await fetchWorker(connection, new PublicKey(workers.talking), {
      commitment: 'confirmed',
    });
    expect(worker?.status ?? 0).toBe('suspended');
  });

  it('waits for a silent worker as long as for one that another can replace', async () => {
    const { address: wallet } = await service.addWallet(CREDITS);
    const release = solver.hold();
    const plan = {
      ...{ modelId: service.model.id, wallet: wallet.toBase58(), worker: workers.solving },
      ...{ questions: 1, seed: 7, rightMin: 0.6, interrupted: new AbortController().signal },
    };
    const startedMs = service.time.nowMs();
    const ending = startCanary(loadConfig(service.apiEnvironment), plan, service.time);
    await solver.untilHeld();

    // Not by the ledger's time, which may leap.
    await service.advanceSeconds(31);
    const report = await service.time.advanceUntil(ending);

    release();
    expect(service.time.nowMs() - startedMs).toBeGreaterThanOrEqual(IDLE_MS);
    expect(report.workers).toMatchObject([
      { worker: workers.solving, faults: ['1 of 1 not proven: worker_error', expect.any(String)] },
    ]);
    expect(await readBooks(service, wallet)).toMatchObject({
      ...{ available: CREDITS, locked: 0n },
      jobs: [{ status: 'failed', reason: 'worker_error', charged: 0n }],
    });
  });

  it('takes back the running job when it is interrupted, however often', async () => {
    const { address: wallet } = await service.addWallet(CREDITS);
    const release = solver.hold();
    const args = [SVC_MAIN, ...canaryArgs(wallet, ['--worker', workers.solving])];
    const child = spawn(process.execPath, args, {
      env: { ...MACHINE_ENVIRONMENT, ...service.apiEnvironment },
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    const [saying, ending] = [text(child.stderr), once(child, 'exit')];
    await solver.untilHeld();

    // Through the launcher Ctrl-C arrives twice, and who waits presses it again.
    const pressing = setInterval(() => child.kill('SIGINT'), 5);
    const [error] = await Promise.all([saying, ending]);
    clearInterval(pressing);
    release();

    // Not the exit code: once all is done, nothing is left that would withstand the next signal.
    expect(error).toContain('Interrupted. Every job has ended.');
    expect(await readBooks(service, wallet)).toMatchObject({
      ...{ available: CREDITS, locked: 0n },
      jobs: [{ status: 'failed', reason: 'client_gone', charged: 0n }],
    });
  });

  it('prints in one line why it cannot run, and locks nothing', async () => {
    const { address: wallet } = await service.addWallet(CREDITS);
    const stranger = Keypair.generate().publicKey.toBase58();
    const refusals = [
      [['--model', 'no-such-model'], {}, "No model has the id 'no-such-model'."],
      [['--worker', stranger], {}, `The worker ${stranger} cannot be asked`],
      [[], { SVC_GATEWAY: '' }, 'SVC_GATEWAY'],
      [[], { SOLANA_RPC_URL: 'http://127.0.0.1:1' }, "The ledger's node at 127.0.0.1:1 cannot"],
    ] as const;
    for (const [more, settings, why] of refusals) {
      const env = { ...service.apiEnvironment, ...settings };
      const { error, code } = await runCli(canaryArgs(wallet, more), { env });
      expect(code).toBe(1);
      expect(error).toContain(why);
      expect(error.trim().split('\n')).toHaveLength(2);
    }
    expect((await readBooks(service, wallet)).jobs).toEqual([]);
  });

  it('leaves no job open when the credits run out', async () => {
    const { address: wallet } = await service.addWallet(20n);

    const { error, code } = await canary(wallet);

    expect(code).toBe(1);
    // Those of other jobs may have come back just then.
    expect(error).toMatch(/has to lock \d+ credits and \d+ are available|was just changing/);
    const { available, locked, jobs } = await readBooks(service, wallet);
    expect(jobs.length).toBeGreaterThan(0);
    expect(locked).toBe(0n);
    expect(available + jobs.reduce((sum, { charged }) => sum + charged, 0n)).toBe(20n);
    await service.expectConserved();
  });
});
