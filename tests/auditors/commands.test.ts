import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Keypair } from '@solana/web3.js';
import { formatJobId } from '../../programs/client/index.ts';
import type { Check } from '../../programs/client/verify/check.ts';
import { type StackDescription, writeStackFile } from '../../stack/stackFile.ts';
import { MACHINE_ENVIRONMENT } from '../../testing/childProcess.ts';
import { runCli } from '../../testing/cli.ts';
import {
  addresses,
  createJobScene,
  type JobScene,
  type LockedJob,
  OUTPUT,
} from '../../testing/ledger/jobScene.ts';
import { ownFolder } from '../../testing/ownFolder.ts';

const MAIN = fileURLToPath(new URL('../../cli/main.ts', import.meta.url));
/** Nothing listens there. */
const NOWHERE = 'http://127.0.0.1:1';

let scene: JobScene;
const folder = ownFolder('svc-audit');
let settled: LockedJob;
let closed: LockedJob;

beforeAll(async () => {
  scene = await createJobScene();
  [settled, closed] = (await scene.lock({ count: 2, tokenLimit: 2_000 })) as [LockedJob, LockedJob];
  await scene.complete(closed.address);
  await scene.acknowledge(settled.address);
  await scene.settle(settled.address);
  await scene.wait(200);
  await scene.close([closed.address]);
});

afterAll(async () => {
  await scene?.ledger.close();
});

/** Runs `svc` as a process of its own, which reads `input`. */
async function svcReading(input: string, args: string[]) {
  const child = spawn(process.execPath, [MAIN, ...args], { env: MACHINE_ENVIRONMENT });
  child.stdin.end(input);
  const [output, [code]] = await Promise.all([text(child.stdout), once(child, 'exit')]);
  return { output, code };
}

const onLedger = (...args: string[]) => [...args, '--rpc', scene.ledger.rpcUrl];

describe('svc verify', () => {
  it('prints each check with its transactions and exits with 0', async () => {
    const id = formatJobId(settled.idBytes);
    const { output, error, code } = await runCli(onLedger('verify', id));
    expect({ error, code }).toEqual({ error: '', code: 0 });
    expect(output).toMatch(
      new RegExp(
        `^${id} at ${settled.address}: settled, 3 of 8 locked credits charged, as of slot \\d+\\.\n`,
      ),
    );
    expect(output).toMatch(/│ 3 │ \d+ +│ \w+ +│ JobProven, JobSettled │/);
    expect(output).toMatch(/│ settlement\.charge +│ holds +│ 3 of 8 locked credits .* │ 1 3 +│/);
    expect(output).toMatch(/\nThe job holds\. Everything that applies holds\.\n$/);
  });

  it('exits with 1 when the text differs', async () => {
    const file = join(folder, 'answer.txt');
    await writeFile(file, 'another answer');
    const { output, code } = await runCli(
      onLedger('verify', settled.address.toBase58(), '--output', file),
    );
    expect(code).toBe(1);
    expect(output).toMatch(/│ delivery\.output +│ FAILS +│/);
    expect(output).toMatch(
      /\nThe job holds\. Your text is not the proven one\. The node shows nothing .*\.\n$/,
    );
  });

  it('reads the text from standard input, and prints the same result as JSON', async () => {
    // As a file of headers has it.
    const receipt = `${scene.receipt(settled.address)}\r`;
    const job = settled.address.toBase58();
    const { output, code } = await svcReading(
      OUTPUT,
      onLedger('verify', job, '--output', '-', '--receipt', receipt, '--json'),
    );
    expect(code).toBe(0);
    const report = JSON.parse(output);
    expect(report).toMatchObject({
      ...{ result: 'holds', conclusion: 'The job holds.' },
      as_of: { slot: expect.stringMatching(/^\d+$/), unix_time: expect.stringMatching(/^\d+$/) },
      job: { status: 'settled', credits_locked: '8', credits_charged: '3', model: 'qwen3-8b' },
    });
    expect(report.checks).toContainEqual({
      name: 'delivery.receipt',
      verdict: 'holds',
      detail: expect.stringContaining(scene.service.hotSigner.publicKey.toBase58()),
      evidence: [{ signature: expect.any(String), slot: expect.stringMatching(/^\d+$/) }],
    });
  });

  it('distinguishes what cannot be checked from what is wrong', async () => {
    const file = join(folder, 'output.txt');
    await writeFile(file, OUTPUT);
    const verify = (job: string, ...more: string[]) =>
      runCli(onLedger('verify', job, '--output', file, ...more));
    const { output } = await verify(closed.address.toBase58(), '--json');
    expect(JSON.parse(output).result).toBe('holds');
    const [failedLater] = (await scene.lock({ count: 1, tokenLimit: 2_000 })) as [LockedJob];
    const { output: unproven, code } = await verify(failedLater.address.toBase58());
    expect(code).toBe(1);
    expect(unproven).toMatch(/│ delivery\.output +│ NOT CHECKABLE +│/);
    expect(unproven).toMatch(/evidence is missing: this proves nothing\.\n$/);
    // An overdue job would be a finding of the audit.
    await scene.fail(failedLater.address);
  });

  it('shows the checks that apply, and with --all the others too', async () => {
    const verify = (...more: string[]) =>
      runCli(onLedger('verify', settled.address.toBase58(), ...more));
    const { checks } = JSON.parse((await verify('--json')).output) as { checks: Check[] };
    const namesIn = (text: string) =>
      [...text.matchAll(/^│ (\w+\.\w+) /gm)].map(([, name]) => name);
    const named = (those: Check[]) => those.map(({ name }) => name);
    const applying = checks.filter(({ verdict }) => verdict !== 'not_applicable');
    const { output } = await verify();
    expect(namesIn(output)).toEqual(named(applying));
    const others = checks.length - applying.length;
    expect(others).toBeGreaterThan(5);
    const note = `Checks that do not apply to this job: ${others} (--all shows them).\n`;
    expect(output).toContain(`${note}The job holds. Everything that applies holds.\n`);
    const { output: all } = await verify('--all');
    expect(namesIn(all)).toEqual(named(checks));
    expect(all).not.toContain('--all');
  });

  it('asks the stack of its folder where no node is named', async () => {
    const cwd = join(folder, 'checkout');
    await mkdir(cwd);
    const verify = (...more: string[]) =>
      runCli(['verify', formatJobId(closed.idBytes), ...more], { cwd });
    expect(await verify()).toEqual({
      ...{ code: 1, output: '' },
      error: "Say which ledger's node: --rpc. No stack of npm start runs here.\n",
    });
    const { rpcUrl } = scene.ledger;
    const stack = {
      rpcUrl,
      programId: addresses.programId.toBase58(),
      wallet: scene.service.wallet.publicKey.toBase58(),
    } as StackDescription;
    await writeStackFile(join(cwd, '.svc'), stack);

    const { code, output, error } = await verify();

    expect({ code, error }).toEqual({
      code: 0,
      error: `Asking the ledger of the stack that runs here: ${new URL(rpcUrl).host}.\n`,
    });
    expect(output).toContain(`${formatJobId(closed.idBytes)} at ${closed.address}: settled`);
    const elsewhere = Keypair.generate().publicKey.toBase58();
    expect((await verify('--program', elsewhere)).error).toContain('knows no job at');
    // A node that is named has nothing to do with the stack.
    expect((await verify('--rpc', rpcUrl)).error).toMatch(/^No account has this job id/);
  });

  it('finds a closed job by its wallet', async () => {
    const id = formatJobId(closed.idBytes);
    const wallet = scene.service.wallet.publicKey.toBase58();
    const { code, output } = await runCli(onLedger('verify', id, '--wallet', wallet));
    expect(code).toBe(0);
    expect(output).toMatch(/│ 2 │ \d+ +│ \w+ +│ JobCompleted +│/);
    expect(output).toMatch(/ signed the sha256 of the +│ 2 +│\n.* proof's 181 bytes\. /);
  });

  it.each([
    {
      what: 'a closed job without its wallet',
      args: () => onLedger('verify', formatJobId(closed.idBytes)),
      says: /^No account has this job id\. .* --wallet\.\n$/,
    },
    {
      what: 'a job that is not on the ledger',
      args: () => onLedger('verify', scene.service.arbiter.publicKey.toBase58()),
      says: /^There is no job at \w+\. It is the address of a key pair\.\n$/,
    },
    {
      what: 'an address of the program that has nothing',
      args: () => onLedger('verify', addresses.model('nothing').toBase58()),
      says: /^The ledger's node knows no job at \w+\.\n$/,
    },
    {
      what: 'another account of the program',
      args: () => onLedger('verify', addresses.config.toBase58()),
      says: /^There is no job at \w+\. The account is a Config, not a job\.\n$/,
    },
    {
      what: "another program's account",
      args: () => onLedger('verify', addresses.vault.toBase58()),
      says: /^There is no job at \w+\. The account belongs to Tokenkeg\w+\.\n$/,
    },
    {
      what: 'something else than a job',
      args: () => onLedger('verify', 'job_1'),
      says: /^job_1 is neither a job id, nor an address, nor a transaction's signature\.\n$/,
    },
    {
      what: 'a node that cannot be reached',
      args: () => ['verify', settled.address.toBase58(), '--rpc', NOWHERE],
      says: /^The ledger's node at 127\.0\.0\.1:1 cannot be reached: its port is one that fetch refuses\.\n$/,
    },
    {
      what: 'a history of nothing',
      args: () => onLedger('verify', settled.address.toBase58(), '--history-max', '0'),
      says: /^error: option '--history-max <count>' .* It must be a whole number above 0\.\n$/,
    },
    {
      what: 'a missing text file',
      args: () => onLedger('verify', settled.address.toBase58(), '--output', join(folder, 'none')),
      says: /^\S+none cannot be read: ENOENT.*\n$/,
    },
  ])('reports in one sentence what is wrong with $what', async ({ args, says }) => {
    const { output, error, code } = await runCli(args());
    expect({ output, code }).toEqual({ output: '', code: 1 });
    expect(error).toMatch(says);
  });
});

describe('svc audit', () => {
  it('exits with 0 when the whole program is in order', async () => {
    const { output, error, code } = await runCli(onLedger('audit'));
    expect({ error, code }).toEqual({ error: '', code: 0 });
    const authority = scene.ledger.payer.publicKey.toBase58();
    expect(output).toContain(`Who can replace the program: ${authority}.`);
    expect(output).toMatch(/│ program\.code +│ holds +│ sha256 [0-9a-f]{64}/);
  });

  it('exits with 1 and prints JSON when another binary is deployed', async () => {
    const file = join(folder, 'program.so');
    await writeFile(file, 'another program');
    const { output, code } = await runCli(onLedger('audit', '--artifact', file, '--json'));
    expect(code).toBe(1);
    const report = JSON.parse(output);
    expect(report).toMatchObject({
      result: 'fails',
      slots: { first: expect.any(Number), last: expect.any(Number) },
      upgrade_authority: scene.ledger.payer.publicKey.toBase58(),
    });
    expect(report.checks.find(({ name }: { name: string }) => name === 'program.code')).toEqual({
      name: 'program.code',
      verdict: 'fails',
      detail: expect.stringMatching(/^Deployed is sha256 [0-9a-f]{64}; built is [0-9a-f]{64}\.$/),
      evidence: [],
    });
  });

  it('reports that there is no such program', async () => {
    const program = scene.service.arbiter.publicKey.toBase58();
    const { output, code } = await runCli(onLedger('audit', '--program', program));
    expect(code).toBe(1);
    expect(output).toMatch(/│ program\.code +│ NOT CHECKABLE +│ There is no program at/);
  });
});
