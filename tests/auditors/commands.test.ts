import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Keypair } from '@solana/web3.js';
import { formatJobId, jobFail, jobLock, requestCommitment } from '../../programs/client/index.ts';
import { answerDetails, statementOf } from '../../programs/client/statement.ts';
import { readRequest } from '../../programs/client/verify/answer/sentRequest.ts';
import type { Check } from '../../programs/client/verify/check.ts';
import { NOT_PROVEN } from '../../programs/client/verify/check.ts';
import { locateJob } from '../../programs/client/verify/job/locateJob.ts';
import { openCreditAccount } from '../../stack/participants.ts';
import { type StackDescription, writeStackFile } from '../../stack/stackFile.ts';
import { MACHINE_ENVIRONMENT, SVC_MAIN } from '../../testing/childProcess.ts';
import { runCli } from '../../testing/cli.ts';
import {
  addresses,
  createJobScene,
  type JobScene,
  type LockedJob,
  OUTPUT,
} from '../../testing/ledger/jobScene.ts';
import { ownFolder } from '../../testing/ownFolder.ts';
import { TEXT_ALONE } from '../../testing/textAlone.ts';

/** Nothing listens there. */
const NOWHERE = 'http://127.0.0.1:1';
const SALT = '07'.repeat(32);
const REQUEST = { model: 'qwen3-8b', messages: [{ role: 'user', content: 'What is a lock?' }] };

let scene: JobScene;
const folder = ownFolder('svc-audit');
let settled: LockedJob;
let closed: LockedJob;
let failed: LockedJob;
/** Of the closed job. */
const halves = {
  requestCommitment: requestCommitment(Buffer.from(SALT, 'hex'), {
    ...readRequest(JSON.stringify(REQUEST)).chat,
    token_limit: 2_000,
  }),
  answerDetails: answerDetails(TEXT_ALONE),
};
const hex = (bytes: Uint8Array) => Buffer.from(bytes).toString('hex');

beforeAll(async () => {
  scene = await createJobScene();
  [settled, closed] = (await scene.lock({ count: 2, tokenLimit: 2_000 })) as [LockedJob, LockedJob];
  [failed] = (await scene.lock({ count: 1, tokenLimit: 9 })) as [LockedJob];
  await scene.complete(closed.address, { statement: statementOf(halves) });
  await scene.fail(failed.address);
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
  const child = spawn(process.execPath, [SVC_MAIN, ...args], { env: MACHINE_ENVIRONMENT });
  child.stdin.end(input);
  const [output, [code]] = await Promise.all([text(child.stdout), once(child, 'exit')]);
  return { output, code };
}

const onLedger = (...args: string[]) => [...args, '--rpc', scene.ledger.rpcUrl];
const verify = (...args: string[]) => runCli(onLedger('verify', ...args));

async function saved(name: string, content: string | object): Promise<string> {
  const file = join(folder, name);
  await writeFile(file, typeof content === 'string' ? content : JSON.stringify(content));
  return file;
}

const id = ({ idBytes }: LockedJob = closed) => formatJobId(idBytes);
const walletOf = () => scene.service.wallet.publicKey.toBase58();
/** What the API says of the closed job. */
const svc = () => ({
  job_id: id(),
  worker: scene.service.worker.toBase58(),
  ...{ attempt: 1, credits_charged: 3, usdc_value: 0.03, settlement_tx: null },
  output_hash: `sha256:${createHash('sha256').update(OUTPUT).digest('hex')}`,
  request_salt: SALT,
  request_commitment: hex(halves.requestCommitment),
  answer_details: hex(halves.answerDetails),
  delivery_receipt: scene.receipt(closed.address, statementOf(halves)),
  verify_url: `https://api.example.com/verify/${id()}#wallet=${walletOf()}`,
});
const answer = (content = OUTPUT, more: object = { svc: svc() }) => ({
  ...{ id: `chatcmpl-${id()}`, model: REQUEST.model },
  choices: [{ message: { content }, finish_reason: 'stop' }],
  ...more,
});

describe('svc verify', () => {
  it('prints each check with its transactions and exits with 0', async () => {
    const { output, error, code } = await verify(id(settled));
    expect({ error, code }).toEqual({ error: '', code: 0 });
    expect(output).toMatch(
      new RegExp(
        `^${id(settled)} at ${settled.address}: settled, 3 of 8 locked credits charged, as of slot \\d+\\.\n`,
      ),
    );
    expect(output).toMatch(/│ 3 │ \d+ +│ \w+ +│ JobProven, JobSettled │/);
    expect(output).toMatch(/│ settlement\.charge +│ holds +│ 3 of 8 locked credits .* │ 1 3 +│/);
    expect(output).toMatch(/\nThe job holds\. Everything that applies holds\.\n$/);
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

  it('shows the checks that apply, and with --all the others too', async () => {
    const job = settled.address.toBase58();
    const { checks } = JSON.parse((await verify(job, '--json')).output) as { checks: Check[] };
    const namesIn = (text: string) =>
      [...text.matchAll(/^│ (\w+\.\w+) /gm)].map(([, name]) => name);
    const named = (those: Check[]) => those.map(({ name }) => name);
    const applying = checks.filter(({ verdict }) => verdict !== 'not_applicable');
    const { output } = await verify(job);
    expect(namesIn(output)).toEqual(named(applying));
    const others = checks.length - applying.length;
    expect(others).toBeGreaterThan(5);
    const note = `Checks that do not apply to this job: ${others} (--all shows them).\n`;
    const notProven = `Not proven: ${NOT_PROVEN.join(', ')}.\n`;
    expect(output).toContain(`${note}${notProven}The job holds. Everything that applies holds.\n`);
    const { output: all } = await verify(job, '--all');
    expect(namesIn(all)).toEqual(named(checks));
    expect(all).not.toContain('--all');
  });

  it('asks the stack of its folder where no node is named', async () => {
    const cwd = join(folder, 'checkout');
    await mkdir(cwd);
    const verifyHere = (...more: string[]) => runCli(['verify', id(), ...more], { cwd });
    expect(await verifyHere()).toEqual({
      ...{ code: 1, output: '' },
      error: "Say which ledger's node: --rpc. No stack of npm start runs here.\n",
    });
    const { rpcUrl } = scene.ledger;
    const stack = {
      rpcUrl,
      programId: addresses.programId.toBase58(),
      wallet: walletOf(),
    } as StackDescription;
    await writeStackFile(join(cwd, '.svc'), stack);

    const { code, output, error } = await verifyHere();

    expect({ code, error }).toEqual({
      code: 0,
      error: `Asking the ledger of the stack that runs here: ${new URL(rpcUrl).host}.\n`,
    });
    expect(output).toContain(`${id()} at ${closed.address}: settled`);
    const elsewhere = Keypair.generate().publicKey.toBase58();
    expect((await verifyHere('--program', elsewhere)).error).toContain(
      'No account has this job id',
    );
    // A node that is named has nothing to do with the stack.
    expect((await verifyHere('--rpc', rpcUrl)).error).toBe('');
  });

  it('chooses between no two wallets that locked jobs of one id', async () => {
    const { operator, gateway, hotSigner, mints, model } = scene.service;
    const wallet = Keypair.generate();
    const account = { wallet, spender: gateway, credits: 100n, mints };
    const other = await openCreditAccount(operator, account);
    // Half of all ids have no address under another wallet.
    const twins = async (): Promise<LockedJob> => {
      const [job] = (await scene.lock({ count: 1, tokenLimit: 9 })) as [LockedJob];
      if (addresses.newJob(other, job.idBytes)) return job;
      await scene.fail(job.address);
      return twins();
    };
    const { idBytes, address } = await twins();
    await scene.send([
      jobLock({
        ...{ payer: operator.authority.publicKey, signer: hotSigner.publicKey, gateway },
        ...{ wallet: wallet.publicKey, modelId: model.id, jobId: idBytes },
        ...{ tokenLimit: 9, maxCredits: 100n },
      }),
    ]);
    const both = [address, addresses.job(other, idBytes)] as const;
    const named = formatJobId(idBytes);
    expect((await verify(named)).error).toContain('Jobs of several wallets have this id');
    await scene.fail(address);
    await scene.send([
      jobFail({
        ...{ signer: hotSigner.publicKey, gateway, job: both[1], creditAccount: other },
        ...{ reason: 'worker_error', deliveredHash: new Uint8Array(32), countedTokens: 0 },
      }),
    ]);
    await scene.wait(200);
    await scene.close(both);
    expect((await verify(named)).error).toContain('Jobs of several wallets have this id');
    expect((await verify(named, '--wallet', walletOf())).code).toBe(0);
  });

  it('finds a closed job by its id alone, behind many that came since', async () => {
    for (let more = 0; more < 10; more += 1) await scene.lock({ count: 4, tokenLimit: 9 });
    const { error, output, code } = await verify(id());
    expect({ error, code }).toEqual({ error: '', code: 0 });
    expect(output).toContain(`${id()} at ${closed.address}: settled`);
    const { connection } = scene.ledger;
    const locate = (listedMax: number) =>
      locateJob({ connection, addresses, named: id(), search: { listedMax, readMax: 12 } });
    expect(await locate(1_000)).toEqual(closed.address);
    await expect(locate(10)).rejects.toThrow('more than 10 transactions since');
  });

  it.each<[string, () => string[], RegExp]>([
    ['no job', () => [], /^Name a job, or a saved answer: --response\.\n$/],
    [
      'a job id that was never locked',
      () => [id().replace(/.$/, (digit) => (digit === '0' ? '1' : '0'))],
      /^No account has this job id, and the node shows no lock of it\. .* --wallet\.\n$/,
    ],
    [
      'a closed job whose time had more locks than are read',
      () => [id(), '--history-max', '1'],
      /^No account .* more than 1 transactions at its time \(--history-max\)\. .* --wallet\.\n$/,
    ],
    [
      'a job that is not on the ledger',
      () => [scene.service.arbiter.publicKey.toBase58()],
      /^There is no job at \w+\. It is the address of a key pair\.\n$/,
    ],
    [
      'an address of the program that has nothing',
      () => [addresses.model('nothing').toBase58()],
      /^The ledger's node knows no job at \w+\.\n$/,
    ],
    [
      'another account of the program',
      () => [addresses.config.toBase58()],
      /^There is no job at \w+\. The account is a Config, not a job\.\n$/,
    ],
    [
      "another program's account",
      () => [addresses.vault.toBase58()],
      /^There is no job at \w+\. The account belongs to Tokenkeg\w+\.\n$/,
    ],
    [
      'something else than a job',
      () => ['job_1'],
      /^job_1 is neither a job id, nor an address, nor a transaction's signature\.\n$/,
    ],
    [
      'a node that cannot be reached',
      () => [settled.address.toBase58(), '--rpc', NOWHERE],
      /^The ledger's node at 127\.0\.0\.1:1 cannot be reached: its port is one that fetch refuses\.\n$/,
    ],
    [
      'a history of nothing',
      () => [id(), '--history-max', '0'],
      /^error: option '--history-max <count>' .* It must be a whole number above 0\.\n$/,
    ],
    [
      'a missing text file',
      () => [settled.address.toBase58(), '--output', join(folder, 'none')],
      /^\S+none cannot be read: ENOENT.*\n$/,
    ],
    [
      'a salt that is none',
      () => [id(), '--salt', 'AB'.repeat(32)],
      /^error: option '--salt <hex>' .* It must be 64 hex digits, in lower case\.\n$/,
    ],
    [
      'two texts',
      () => ['--response', 'a', '--output', 'b'],
      /^error: option '--response <file>' cannot be used with option '--output <file>'\n$/,
    ],
  ])('reports in one sentence what is wrong with %s', async (_what, args, says) => {
    const given = args();
    const rpc = given.includes('--rpc') ? [] : ['--rpc', scene.ledger.rpcUrl];
    const { output, error, code } = await runCli(['verify', ...given, ...rpc]);
    expect({ output, code }).toEqual({ output: '', code: 1 });
    expect(error).toMatch(says);
  });
});

describe('svc verify of a saved answer', () => {
  it('finds its job and checks text, receipt, question and answer', async () => {
    const response = await saved('answer', answer());
    const request = await saved('request.json', REQUEST);
    const { output, error, code } = await verify('--response', response, '--request', request);
    expect({ error, code }).toEqual({ error: '', code: 0 });
    expect(output).toContain(`${id()} at ${closed.address}: settled`);
    for (const rule of ['output', 'details', 'receipt', 'request', 'answer']) {
      expect(output).toMatch(new RegExp(`│ delivery\\.${rule} +│ holds `));
    }
    expect(output).toMatch(/\nThe job holds\. Everything that applies holds\.\n$/);
  });

  it('says of another text and question that the job holds, as JSON too', async () => {
    const response = await saved('answer.json', answer(`${OUTPUT}\n`));
    const request = await saved('changed.json', { ...REQUEST, temperature: 1 });
    const given = ['--response', response, '--request', request, '--json'];
    const { output, code } = await verify(...given);
    expect(code).toBe(1);
    expect(JSON.parse(output)).toMatchObject({
      result: 'differs',
      conclusion:
        'The job holds. Your text is not the proven one. Your question is not the proven one.',
    });
    const { output: shown } = await verify('--response', response);
    expect(shown).toMatch(
      /\nThe job holds\. Your text is not the proven one\. .* only in this: a newline at the end\.\n$/,
    );
  });

  it('takes a job that is named too, and refuses another one', async () => {
    const response = await saved('answer.json', answer());
    for (const named of [id(), closed.address.toBase58()]) {
      expect((await verify(named, '--response', response)).code).toBe(0);
    }
    for (const named of [id(settled), settled.address.toBase58()]) {
      expect(await verify(named, '--response', response)).toEqual({
        ...{ code: 1, output: '' },
        error: `The saved answer is of ${id()}, and you named ${id(settled)}.\n`,
      });
    }
  });

  it('takes a receipt, a salt and a wallet from options first', async () => {
    const response = await saved('answer.json', answer(OUTPUT, {}));
    const request = await saved('request.json', REQUEST);
    const given = ['--response', response, '--request', request, '--wallet', walletOf()];
    const details = ['--answer-details', hex(halves.answerDetails)];
    const receipt = ['--receipt', scene.receipt(closed.address, statementOf(halves)), ...details];
    const { output, error, code } = await verify(...given, '--salt', SALT, ...receipt);
    expect({ error, code }).toEqual({
      code: 0,
      error: 'The answer has no svc: only its job and its text are checked.\n',
    });
    expect(output).toMatch(/│ delivery\.request +│ holds /);
    expect(output).toMatch(/│ delivery\.receipt +│ holds /);
    const wrong = await verify(...given, ...details, '--salt', SALT.replaceAll('7', '8'));
    expect(wrong.output).toMatch(/The job holds\. Your question is not the proven one\. /);
    const unsalted = await verify(id(), '--wallet', walletOf(), '--request', request);
    expect(unsalted.code).toBe(1);
    expect(unsalted.output).toMatch(
      /│ delivery\.request +│ NOT CHECKABLE +│ It is compared by the answer's svc\.request_salt and /,
    );
    expect(unsalted.output).toMatch(/evidence is missing: this proves nothing\.\n$/);
  });

  it('looks for the job at a wallet that is named, not at that of the answer', async () => {
    const other = addresses.config.toBase58();
    const lying = { svc: { ...svc(), verify_url: svc().verify_url.replace(walletOf(), other) } };
    const response = await saved('lying.json', answer(OUTPUT, lying));
    expect((await verify('--response', response)).error).toMatch(/knows no job at /);
    expect((await verify('--response', response, '--wallet', walletOf())).code).toBe(0);
  });

  it('compares an error with the job, and says that nothing was charged', async () => {
    const of = async (job: LockedJob) => {
      const verify_url = `https://api.example.com/verify/${id(job)}#wallet=${walletOf()}`;
      const error = { error: { message: 'No.' }, svc: { job_id: id(job), verify_url } };
      return verify('--response', await saved('failed.json', error));
    };
    const { code, output, error } = await of(failed);
    expect({ code, error }).toEqual({
      code: 0,
      error: 'The answer is an error: no text is compared.\n',
    });
    expect(output).toMatch(/\nThe job holds\. Nothing was charged\. /);
    expect((await of(settled)).output).toContain('Your answer says something else of it.');
  });

  it('names a file that holds something else', async () => {
    const error = { error: { message: 'No.' }, id: id() };
    const response = await saved('error.json', error);
    expect((await verify('--response', response)).error).toMatch(
      /^\S+error\.json cannot be used\. It is an error, not an answer\. It says: No\. Its job is job_\w+: without a text, verify that\.\n$/,
    );
    const request = await saved('answer.json', answer());
    expect((await verify(id(), '--salt', SALT, '--request', request)).error).toMatch(
      /^\S+answer\.json cannot be used\. It is no request: save the JSON body that was sent/,
    );
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
