import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { startRunningService } from '../../testing/service/runningService.ts';
import { createUpstreamEngine } from '../../worker/engine/upstream.ts';
import { startUpstream, type UpstreamServer } from '../worker/upstreamServer.ts';
import { type SavedVerdict, verifySaved } from './savedAnswers.ts';

/**
 * `npm run test:long -- clients`: real clients of the format against a running service. Each Python
 * client is installed at its pinned version into a folder of its own, since two of them need different
 * versions of a third. What a client saves of its answers, with the requests, has to hold by each
 * implementation of the verification. What cannot run here is named as NOT CHECKED.
 *
 *   npm run test:long -- clients                all
 *   npm run test:long -- clients litellm llm    some
 */
const CLIENTS: readonly { name: string; script: string; packages?: readonly string[] }[] = [
  { name: 'curl', script: 'curl.sh' },
  { name: 'openai-python', script: 'openaiPython.py', packages: ['openai==3.57.0'] },
  { name: 'instructor', script: 'instructorJson.py', packages: ['instructor==1.17.0'] },
  { name: 'litellm', script: 'litellmPython.py', packages: ['litellm==1.110.2'] },
  { name: 'langchain-python', script: 'langchainPython.py', packages: ['langchain-openai==1.7.4'] },
  { name: 'pydantic-ai', script: 'pydanticAi.py', packages: ['pydantic-ai-slim[openai]==2.68.0'] },
  { name: 'llm', script: 'llmCommand.py', packages: ['llm==0.36'] },
];

const run = promisify(execFile);
const INSTALL_MS_MAX = 600_000;
const RUN_MS_MAX = 120_000;

/** What stopped a command, in its last lines. */
function reasonOf(error: unknown): string {
  const { stderr = '', message } = error as Error & { stderr?: string };
  return (stderr.trim() || message).split('\n').slice(-4).join('\n');
}

/** @returns the interpreter that runs the client's script; an error where it cannot be installed */
async function interpreterFor(
  { name, packages }: (typeof CLIENTS)[number],
  folder: string,
): Promise<string> {
  if (!packages) {
    await run('curl', ['--version']);
    return 'sh';
  }
  const venv = join(folder, name);
  await run('python3', ['-m', 'venv', venv]);
  const python = join(venv, 'bin', 'python');
  await run(python, ['-m', 'pip', 'install', '--quiet', ...packages], { timeout: INSTALL_MS_MAX });
  return python;
}

async function check(
  client: (typeof CLIENTS)[number],
  folder: string,
  environment: Record<string, string>,
): Promise<Omit<SavedVerdict, 'what'>> {
  let interpreter: string;
  try {
    interpreter = await interpreterFor(client, folder);
  } catch (error) {
    return { verdict: 'NOT CHECKED', reason: reasonOf(error) };
  }
  const script = fileURLToPath(new URL(client.script, import.meta.url));
  try {
    await run(interpreter, [script], {
      timeout: RUN_MS_MAX,
      env: { PATH: process.env.PATH, HOME: folder, ...environment },
    });
    return { verdict: 'works' };
  } catch (error) {
    return { verdict: 'FAILS', reason: reasonOf(error) };
  }
}

/** Thinks, and says what the scripts expect: JSON where it is asked for. */
function answerAsExpected(upstream: UpstreamServer): void {
  upstream.answerWith((reply) => {
    const asked = upstream.requests.at(-1)?.body ?? {};
    const isCity = JSON.stringify(asked.messages).includes('Which city?');
    const pieces =
      asked.response_format || isCity ? ['{"city": ', '"Basel"}'] : ['Good ', 'morning.'];
    const thought = { choices: [{ index: 0, delta: { reasoning_content: 'Hm. ' } }] };
    reply.raw(JSON.stringify(thought));
    for (const piece of pieces) reply.text(piece);
    reply.finish('stop');
    const details = { completion_tokens_details: { reasoning_tokens: 4 } };
    const usage = { prompt_tokens: 5, completion_tokens: 7, ...details };
    reply.raw(JSON.stringify({ choices: [], usage }));
    reply.done();
    reply.end();
  });
}

function print({ what, verdict, reason }: SavedVerdict): void {
  process.stdout.write(`${verdict.padEnd(12)} ${what}\n`);
  if (reason) process.stdout.write(`${reason.replace(/^/gm, '             ')}\n`);
  if (verdict === 'FAILS') process.exitCode = 1;
}

const named = process.argv.slice(2);
const unknown = named.filter((name) => !CLIENTS.some((client) => client.name === name));
if (unknown.length > 0) throw new Error(`There is no client ${unknown.join(', ')}`);

const upstream = await startUpstream();
const service = await startRunningService({
  workers: [createUpstreamEngine({ url: upstream.url })],
});
const folder = await mkdtemp(join(tmpdir(), 'svc-clients-'));
answerAsExpected(upstream);
try {
  for (const client of CLIENTS) {
    if (named.length > 0 && !named.includes(client.name)) continue;
    const saved = join(folder, `${client.name}-saved`);
    await mkdir(saved);
    const checked = await check(client, folder, {
      BASE_URL: service.baseUrl,
      API_KEY: service.apiKey,
      MODEL: service.model.id,
      SAVED: saved,
    });
    print({ what: client.packages?.join(' ') ?? client.name, ...checked });
    await service.untilMirrored();
    for (const verdict of await verifySaved(saved, service.ledger.rpcUrl)) print(verdict);
  }
} finally {
  await rm(folder, { recursive: true });
  await service.close();
  upstream.close();
}
