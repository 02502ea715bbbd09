import { createHash } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { formatJobId, requestCommitment } from '../../programs/client/index.ts';
import { readRequest } from '../../programs/client/verify/answer/sentRequest.ts';
import { runCli } from '../../testing/cli.ts';
import {
  addresses,
  createJobScene,
  type JobScene,
  type LockedJob,
  OUTPUT,
} from '../../testing/ledger/jobScene.ts';
import { ownFolder } from '../../testing/ownFolder.ts';

const SALT = '07'.repeat(32);
const TOKEN_LIMIT = 2_000;
const REQUEST = { model: 'qwen3-8b', messages: [{ role: 'user', content: 'What is a lock?' }] };

let scene: JobScene;
const folder = ownFolder('svc-saved');
let job: LockedJob;
let other: LockedJob;

/** A job that is closed, so that its wallet is needed to find it, and another one. */
beforeAll(async () => {
  scene = await createJobScene();
  [job, other] = (await scene.lock({ count: 2, tokenLimit: TOKEN_LIMIT })) as [
    LockedJob,
    LockedJob,
  ];
  const { chat } = readRequest(JSON.stringify(REQUEST));
  await scene.complete(job.address, {
    requestCommitment: requestCommitment(Buffer.from(SALT, 'hex'), {
      ...chat,
      token_limit: TOKEN_LIMIT,
    }),
  });
  await scene.wait(200);
  await scene.close([job.address]);
});

afterAll(async () => {
  await scene?.ledger.close();
});

const id = ({ idBytes }: LockedJob = job) => formatJobId(idBytes);
const walletOf = () => scene.service.wallet.publicKey.toBase58();
const svc = () => ({
  job_id: id(),
  worker: scene.service.worker.toBase58(),
  ...{ attempt: 1, credits_charged: 3, usdc_value: 0.03, settlement_tx: null },
  output_hash: `sha256:${createHash('sha256').update(OUTPUT).digest('hex')}`,
  request_salt: SALT,
  delivery_receipt: scene.receipt(job.address),
  verify_url: `https://api.example.com/verify/${id()}#wallet=${walletOf()}`,
});
const plain = (content = OUTPUT, more: object = { svc: svc() }) =>
  JSON.stringify({
    ...{ id: `chatcmpl-${id()}`, model: REQUEST.model },
    choices: [{ message: { content }, finish_reason: 'stop' }],
    ...more,
  });
const stream = () =>
  [
    { choices: [{ delta: { content: OUTPUT.slice(0, 5) }, finish_reason: null }] },
    { choices: [{ delta: { content: OUTPUT.slice(5) }, finish_reason: null }] },
    { choices: [{ delta: {}, finish_reason: 'stop' }], svc: svc() },
  ]
    .map((chunk) => `data: ${JSON.stringify({ id: `chatcmpl-${id()}`, ...chunk })}\n\n`)
    .join('');

async function saved(name: string, content: string): Promise<string> {
  const file = join(folder, name);
  await writeFile(file, content);
  return file;
}

const verify = (...args: string[]) => runCli(['verify', ...args, '--rpc', scene.ledger.rpcUrl]);

describe('svc verify of a saved answer', () => {
  it.each<[string, () => string]>([
    ['a plain answer', plain],
    [
      'a stream with its headers',
      () => `HTTP/2 200 \r\nserver: x\r\n\r\n${stream()}data: [DONE]\n\n`,
    ],
  ])('finds the job of %s and checks text, receipt, question and answer', async (_form, make) => {
    const response = await saved('answer', make());
    const request = await saved('request.json', JSON.stringify(REQUEST, null, 2));
    const { output, error, code } = await verify('--response', response, '--request', request);
    expect({ error, code }).toEqual({ error: '', code: 0 });
    expect(output).toContain(`${id()} at ${job.address}: settled`);
    for (const rule of ['output', 'receipt', 'request', 'answer']) {
      expect(output).toMatch(new RegExp(`│ delivery\\.${rule} +│ holds `));
    }
    expect(output).toMatch(/\nThe job holds\. Everything that applies holds\.\n$/);
  });

  it('says of another text and question that the job holds, as JSON too', async () => {
    const response = await saved('answer.json', plain(`${OUTPUT}\n`));
    const changed = { ...REQUEST, temperature: 1 };
    const request = await saved('changed.json', JSON.stringify(changed));
    const { output, code } = await verify(
      ...['--response', response, '--request', request, '--json'],
    );
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
    const response = await saved('answer.json', plain());
    for (const named of [id(), job.address.toBase58()]) {
      expect((await verify(named, '--response', response)).code).toBe(0);
    }
    for (const named of [id(other), other.address.toBase58()]) {
      expect(await verify(named, '--response', response)).toEqual({
        ...{ code: 1, output: '' },
        error: `The saved answer is of ${id()}, and you named ${id(other)}.\n`,
      });
    }
  });

  it('takes a receipt, a salt and a wallet from options first', async () => {
    const response = await saved('answer.json', plain(OUTPUT, {}));
    const request = await saved('request.json', JSON.stringify(REQUEST));
    const given = ['--response', response, '--request', request, '--wallet', walletOf()];
    const receipt = ['--receipt', scene.receipt(job.address)];
    const { output, error, code } = await verify(...given, '--salt', SALT, ...receipt);
    expect({ error, code }).toEqual({
      code: 0,
      error: 'The answer has no svc: only its job and its text are checked.\n',
    });
    expect(output).toMatch(/│ delivery\.request +│ holds /);
    expect(output).toMatch(/│ delivery\.receipt +│ holds /);
    const wrong = await verify(...given, '--salt', SALT.replaceAll('7', '8'));
    expect(wrong.output).toMatch(/The job holds\. Your question is not the proven one\. /);
  });

  it('looks for the job at a wallet that is named, not at that of the answer', async () => {
    const other = addresses.config.toBase58();
    const lying = { svc: { ...svc(), verify_url: svc().verify_url.replace(walletOf(), other) } };
    const response = await saved('lying.json', plain(OUTPUT, lying));
    expect((await verify('--response', response)).error).toMatch(/knows no job at /);
    expect((await verify('--response', response, '--wallet', walletOf())).code).toBe(0);
  });

  it('names what is missing to check a question', async () => {
    const request = await saved('request.json', JSON.stringify(REQUEST));
    const { output, code } = await verify(id(), '--wallet', walletOf(), '--request', request);
    expect(code).toBe(1);
    const row =
      /│ delivery\.request +│ NOT CHECKABLE +│ It is compared by its salt, .*request_salt\. /;
    expect(output).toMatch(row);
  });

  it.each<[string, () => Promise<string[]>, RegExp]>([
    ['no job', async () => [], /^Name a job, or a saved answer: --response\.\n$/],
    [
      'an error in place of an answer',
      async () => [
        '--response',
        await saved('error.json', JSON.stringify({ error: { message: 'No.' }, svc: svc() })),
      ],
      /^\S+error\.json cannot be used\. It is an error, not an answer\. It says: No\. Its job is job_\w+: without a text, verify that\.\n$/,
    ],
    [
      'something else than a request',
      async () => [id(), '--salt', SALT, '--request', await saved('answer.json', plain())],
      /^\S+answer\.json cannot be used\. It is no request: save the JSON body that was sent/,
    ],
    [
      'a salt that is none',
      async () => [id(), '--salt', 'abc'],
      /^error: option '--salt <hex>' .* It must be 64 hex digits, in lower case\.\n$/,
    ],
    [
      'a salt in upper case',
      async () => [id(), '--salt', 'AB'.repeat(32)],
      /^error: option '--salt <hex>' .* It must be 64 hex digits, in lower case\.\n$/,
    ],
    [
      'two texts',
      async () => ['--response', 'a', '--output', 'b'],
      /^error: option '--response <file>' cannot be used with option '--output <file>'\n$/,
    ],
    [
      'a file that is missing',
      async () => ['--response', join(folder, 'none')],
      /^\S+none cannot be read: ENOENT/,
    ],
  ])('says in a sentence what is wrong with %s', async (_what, args, says) => {
    const { output, error, code } = await verify(...(await args()));
    expect({ output, code }).toEqual({ output: '', code: 1 });
    expect(error).toMatch(says);
  });
});
