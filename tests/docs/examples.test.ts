import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { needs } from '../../testing/machine/needs.ts';
import { PYTHON_WITH_PACKAGES } from '../../testing/machine/pythonPackages.ts';
import { type RunningService, startRunningService } from '../../testing/service/runningService.ts';
import { type CodeBlock, checkout, codeBlocksOf, readDocuments } from './documents.ts';

jest.setTimeout(600_000);

/** How the built-in engine begins. */
const ANSWER = /^This is the built-in engine/;
/** For what hangs. */
const EXAMPLE_TIMEOUT_MS = 150_000;

const languages = {
  curl: { command: 'sh', extension: 'sh', wanted: needs('curl', 'openssl') },
  typescript: { command: process.execPath, extension: 'ts', wanted: needs() },
  python: {
    command: PYTHON_WITH_PACKAGES,
    extension: 'py',
    wanted: needs('packages of PyPI'),
  },
};

let service: RunningService;
/** Where the examples run, and find the answer that they dispute. */
let folder: string;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'examples-'));
  symlinkSync(join(checkout, 'node_modules'), join(folder, 'node_modules'));
  service = await startRunningService();
});

afterAll(async () => {
  await service.close();
  rmSync(folder, { recursive: true });
});

/** Runs a file of code as its reader would. @returns what it prints */
async function runFile(
  command: string,
  file: string,
  environment: Record<string, string> = {},
): Promise<string> {
  const { PATH = '' } = process.env;
  const { baseUrl: BASE_URL, apiKey: API_KEY } = service;
  const { stdout } = await promisify(execFile)(command, [file], {
    cwd: folder,
    env: { PATH, BASE_URL, API_KEY, ...environment },
    timeout: EXAMPLE_TIMEOUT_MS,
  });
  return stdout;
}

/** The number behind a name, in JSON and in what each language prints. */
function numberIn(printed: string, name: string): number {
  return Number(new RegExp(`\\b${name}\\W+([\\d.]+)`).exec(printed)?.[1]);
}

/** What was printed of a stream is what its job on the ledger says, and where to check it. */
async function expectEvidence(printed: string): Promise<void> {
  const [url = '', id = ''] = /http\S+\/verify\/(job_[0-9a-f]{32})#wallet=\w+/.exec(printed) ?? [];
  await service.untilAccount(({ lockedCredits }) => lockedCredits === 0n);
  await service.untilMirrored();
  const job = await service.get(`/v1/jobs/${id}`);
  expect({ url, ...numbersIn(printed) }).toEqual({
    url: `${service.baseUrl}/verify/${id}#wallet=${service.wallet.publicKey.toBase58()}`,
    credits: job.credits_charged,
    cost: job.usdc_value,
  });
}

const numbersIn = (printed: string) => ({
  credits: numberIn(printed, 'credits_charged'),
  cost: numberIn(printed, 'cost'),
});

describe.each(Object.entries(languages))(
  'the examples in %s',
  (language, { command, extension, wanted }) => {
    const { it } = wanted;
    const run = (topic: string, environment?: Record<string, string>) =>
      runFile(
        command,
        join(checkout, 'examples/api', language, `${topic}.${extension}`),
        environment,
      );

    /** A settled job, and the text that it delivered. */
    async function complete(): Promise<{ JOB_ID: string; text: string }> {
      const { data, response } = await service
        .openai()
        .chat.completions.create({
          model: service.model.id,
          messages: [{ role: 'user', content: 'Say hello.' }],
        })
        .withResponse();
      return {
        JOB_ID: response.headers.get('x-svc-job-id') ?? '',
        text: data.choices[0]?.message.content ?? '',
      };
    }

    const untilSettled = () => service.untilAccount(({ lockedCredits }) => lockedCredits === 0n);

    const jobIdsIn = (printed: string) => printed.match(/(?<=job: |job-id: |^)job_[0-9a-f]{32}/gm);

    it('list the models with their prices', async () => {
      const printed = await run('models');

      const { id, creditsPerRequest, creditsPer1kTokens } = service.model;
      expect(printed).toContain(id);
      expect(printed).toMatch(
        new RegExp(`\\b${creditsPerRequest}\\b.*\\b${creditsPer1kTokens}\\b`),
      );
    });

    it("show an answer with its job's headers", async () => {
      const printed = await run('completion');

      const [id] = jobIdsIn(printed) ?? [];
      const job = await service.get(`/v1/jobs/${id}`);
      expect(job.status).toBe('settled');
      expect(printed).toContain(`x-svc-settlement-tx: ${job.on_chain.settlement_tx}`);
      expect(printed).toContain(`x-svc-worker: ${job.worker_address}`);
      expect(printed).toContain(`x-svc-output-hash: ${job.on_chain.proof_hash}`);
    });

    it('show a stream with its usage, its cost and where to check it', async () => {
      const printed = await run('stream');

      await expectEvidence(printed);
      const { data } = await service.get('/v1/jobs?limit=1');
      expect(numberIn(printed, 'completion_tokens')).toBe(data[0].usage.completion_tokens);
    });

    it('show a response with its cost and where to check it', async () => {
      await expectEvidence(await run('responses'));
    });

    it('show a job, earlier jobs, and the balance', async () => {
      const { JOB_ID } = await complete();

      const printed = await run('job', { JOB_ID });

      const job = await service.get(`/v1/jobs/${JOB_ID}`);
      const account = await service.get('/v1/account');
      expect(printed).toContain(job.on_chain.settlement_tx);
      expect(printed.match(new RegExp(`${JOB_ID}\\b`))).not.toBeNull();
      expect(printed).toContain(account.wallet);
      expect(printed).toContain(String(account.credits_remaining));
    });

    it.each([
      { received: 'the text that was proven', other: '', isOpened: false },
      { received: 'another text', other: ' And more.', isOpened: true },
    ])('open a dispute: $isOpened for $received', async ({ other, isOpened }) => {
      const { JOB_ID, text } = await complete();
      writeFileSync(join(folder, 'answer.txt'), `${text}${other}`);

      const printed = await run('dispute', { JOB_ID });

      expect(printed.toLowerCase()).toMatch(new RegExp(`dispute_opened\\W+${isOpened}`));
      await service.untilMirrored();
      const { status } = await service.get(`/v1/jobs/${JOB_ID}`);
      expect(status).toBe(isOpened ? 'disputed' : 'settled');
    });

    it('show the error of a refused request, at any balance', async () => {
      const printed = await run('errors');

      expect(printed).toContain('422');
      expect(printed).toMatch(/\bmax_credits\b/);
      expect(printed).toContain(`${service.baseUrl}/docs/errors#price_above_limit`);
      expect(numberIn(printed, 'credits_required')).toBe(service.model.creditsPerRequest);
    });

    it('repeat a request without paying twice', async () => {
      const before = await untilSettled();

      const printed = await run('idempotency');

      const ids = jobIdsIn(printed) ?? [];
      expect(ids).toHaveLength(2);
      expect(new Set(ids).size).toBe(1);
      expect(printed.match(/\btrue\b/gi)).toHaveLength(1);
      const after = await untilSettled();
      const price = BigInt(service.model.creditsPerRequest);
      expect(before.availableCredits - after.availableCredits).toBe(price);
    });
  },
);

/** The code of a document in one language. */
function blocksOf(path: string, fence: string): CodeBlock[] {
  const document = readDocuments().find((each) => each.path === path);
  if (!document) throw new Error(`${path} is gone`);
  return codeBlocksOf(document).filter(({ language }) => language === fence);
}

describe.each(blocksOf('docs/clients.md', 'ts'))('the client in $path:$line', ({ text }) => {
  it('prints a stream, its cost and where to check it', async () => {
    const file = join(folder, 'client.mts');
    writeFileSync(file, text);

    const printed = await runFile(process.execPath, file);

    expect(printed).toMatch(ANSWER);
    await expectEvidence(printed);
  });

  it('pays no price above its ceiling', async () => {
    const file = join(folder, 'ceiling.mts');
    writeFileSync(file, text.replace(/(max.credits\W+)8/, '$17'));

    await expect(runFile(process.execPath, file)).rejects.toThrow('its ceiling is 7');
  });
});

describe.each([
  { path: 'docs/getting-started.md', fence: 'ts', ...languages.typescript },
  { path: 'docs/cli.md', fence: 'ts', ...languages.typescript },
  { path: 'docs/getting-started.md', fence: 'python', ...languages.python },
])('the code in $fence of $path', ({ path, fence, command, wanted: { it } }) => {
  it('prints an answer', async () => {
    const { baseUrl, apiKey, model } = service;
    mkdirSync(join(folder, '.svc'), { recursive: true });
    const stack = { baseUrl, apiKey, model: model.id };
    writeFileSync(join(folder, '.svc/stack.json'), JSON.stringify(stack));
    const file = join(folder, fence === 'ts' ? 'pasted.mts' : 'pasted.py');
    const [{ text } = { text: '' }] = blocksOf(path, fence);
    writeFileSync(file, text.replace('llama-3.2-3b-instruct', model.id));

    expect(await runFile(command, file)).toMatch(ANSWER);
  });
});
