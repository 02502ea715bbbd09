import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { chosenOf, installFromPypi, print, reasonOf, run, withService } from './runs.ts';
import { type SavedVerdict, verifySaved } from './savedAnswers.ts';
import { answerAsExpected } from './scriptedModel.ts';

/**
 * `npm run test:long -- clients`: real clients of both formats against a running service with the
 * preview of tools. Each Python client is installed at its pinned version into a folder of its own, since two of them need different
 * versions of a third. What a client saves of its answers, with the requests, has to hold by each
 * implementation of the verification. What cannot run here is named as NOT CHECKED.
 *
 *   npm run test:long -- clients                all
 *   npm run test:long -- clients litellm llm    some
 */
const CLIENTS: readonly { name: string; script: string; packages?: readonly string[] }[] = [
  { name: 'curl', script: 'curl.sh' },
  { name: 'node', script: 'node/main.ts' },
  { name: 'openai-python', script: 'openaiPython.py', packages: ['openai==3.57.0'] },
  { name: 'openai-tools', script: 'openaiTools.py', packages: ['openai==3.57.0'] },
  {
    name: 'openai-responses',
    script: 'openaiResponses.py',
    packages: ['openai==3.57.0'],
  },
  { name: 'openai-agents', script: 'openaiAgents.py', packages: ['openai-agents==0.24.0'] },
  { name: 'instructor', script: 'instructorJson.py', packages: ['instructor==1.17.0'] },
  { name: 'litellm', script: 'litellmPython.py', packages: ['litellm==1.110.2'] },
  { name: 'langchain-python', script: 'langchainPython.py', packages: ['langchain-openai==1.7.4'] },
  {
    name: 'langgraph',
    script: 'langgraphAgent.py',
    packages: ['langchain==1.5.2', 'langgraph==1.2.24', 'langchain-openai==1.7.4'],
  },
  { name: 'pydantic-ai', script: 'pydanticAi.py', packages: ['pydantic-ai-slim[openai]==2.68.0'] },
  { name: 'smolagents', script: 'smolagentsTools.py', packages: ['smolagents[openai]==1.26.0'] },
  { name: 'crewai', script: 'crewAgent.py', packages: ['crewai==1.15.30'] },
  { name: 'llm', script: 'llmCommand.py', packages: ['llm==0.36'] },
];

const RUN_MS_MAX = 120_000;

/** @returns the interpreter that runs the client's script; an error where it cannot be installed */
async function interpreterFor(
  { name, script, packages }: (typeof CLIENTS)[number],
  folder: string,
): Promise<string> {
  if (packages) return join(await installFromPypi(join(folder, name), packages), 'python');
  if (script.endsWith('.ts')) return process.execPath;
  await run('curl', ['--version']);
  return 'sh';
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

const chosen = chosenOf(CLIENTS, process.argv.slice(2));
const folder = await mkdtemp(join(tmpdir(), 'svc-clients-'));
try {
  await withService(answerAsExpected, async (service) => {
    for (const client of chosen) {
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
  });
} finally {
  await rm(folder, { recursive: true });
}
