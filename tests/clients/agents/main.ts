import { mkdir, mkdtemp, readFile, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { runCli } from '../../../testing/cli.ts';
import type { RunningService } from '../../../testing/service/runningService.ts';
import type { UpstreamServer } from '../../worker/upstreamServer.ts';
import {
  chosenOf,
  installFromNpm,
  installFromPypi,
  print,
  reasonOf,
  run,
  withService,
} from '../runs.ts';
import type { SavedVerdict } from '../savedAnswers.ts';
import { passToolTrials, type ScriptedCall, sendCalls } from '../scriptedModel.ts';
import { AFTER, AGENTS, BEFORE, EDIT_AS_TEXT } from './agents.ts';

/**
 * `npm run test:long -- agents`: real agents at pinned versions edit a file through a running service.
 * A script in place of the model calls the tools that each offers. Every job of theirs is verified.
 * What cannot run here is named as NOT CHECKED.
 *
 *   npm run test:long -- agents             all
 *   npm run test:long -- agents aider cline some
 */
type Agent = (typeof AGENTS)[number];

const RUN_MS_MAX = 180_000;
const ENDING = 'Done.';

/** The calls of the agent that runs. */
let calls: ScriptedCall[] = [];

/** Answers the n-th turn with the n-th call, and what has no tools with the edit as text. */
function answerAgents(upstream: UpstreamServer): void {
  passToolTrials(upstream);
  upstream.answerWith((reply, body) => {
    const { messages, tools = [] } = body as { messages: { role: string }[]; tools?: unknown[] };
    const turn = messages.filter((message) => 'tool_calls' in message).length;
    const call = tools.length > 0 ? calls[turn] : undefined;
    if (call) sendCalls(reply, [call], turn);
    else reply.text(calls.length > 0 ? ENDING : EDIT_AS_TEXT);
    reply.complete(call ? 'tool_calls' : 'stop', 5, 7);
  });
}

async function check(
  agent: Agent,
  service: RunningService,
  folder: string,
): Promise<Omit<SavedVerdict, 'what'>> {
  const place = { folder: join(folder, 'work'), home: join(folder, 'home') };
  for (const path of Object.values(place)) await mkdir(path, { recursive: true });
  const file = join(place.folder, 'notes.md');
  await writeFile(file, `# Notes\n${BEFORE}\n`);
  const install = agent.from === 'npm' ? installFromNpm : installFromPypi;
  let commands: string;
  try {
    commands = await install(join(folder, 'package'), [agent.package]);
  } catch (error) {
    return { verdict: 'NOT CHECKED', reason: reasonOf(error) };
  }
  const { baseUrl, apiKey } = service;
  const { before, args } = await agent.settle({
    ...{ ...place, baseUrl, apiKey, model: service.model.id },
  });
  calls = agent.calls(file);
  const env = {
    PATH: [commands, process.env.PATH].join(delimiter),
    HOME: place.home,
    ...agent.environment,
  };
  const options = { cwd: place.folder, env, timeout: RUN_MS_MAX };
  try {
    for (const each of [before, args]) {
      if (each === undefined) continue;
      const running = run(agent.command, each, options);
      // Some wait for what is written to them otherwise.
      running.child.stdin?.end();
      await running;
    }
  } catch (error) {
    return { verdict: 'FAILS', reason: reasonOf(error) };
  }
  const edited = await readFile(file, 'utf8');
  if (edited === `# Notes\n${AFTER}\n`) return { verdict: 'works' };
  return { verdict: 'FAILS', reason: `The file reads:\n${edited}` };
}

/** Verifies each job of the wallet that no agent before had. */
async function verifyJobs(
  service: RunningService,
  known: Set<string>,
): Promise<Omit<SavedVerdict, 'what'>> {
  await service.untilMirrored();
  const { data } = await service.get('/v1/jobs?limit=100');
  const ids = (data as { id: string }[]).map(({ id }) => id).filter((id) => !known.has(id));
  const faults = [];
  for (const id of ids) {
    known.add(id);
    const args = ['verify', id, '--rpc', service.ledger.rpcUrl, '--json'];
    const { code, output, error } = await runCli(args);
    const result = code === 0 ? JSON.parse(output).result : `${output}${error}`.trim();
    if (result !== 'holds') faults.push(`${id}: ${result}`);
  }
  const enough = ids.length > calls.length;
  if (!enough) faults.push(`${ids.length} jobs, of ${calls.length} calls and an ending`);
  return faults.length === 0
    ? { verdict: 'works', reason: `${ids.length} jobs hold` }
    : { verdict: 'FAILS', reason: faults.join('\n') };
}

const chosen = chosenOf(AGENTS, process.argv.slice(2));
const folder = await realpath(await mkdtemp(join(tmpdir(), 'svc-agents-')));
const known = new Set<string>();
try {
  await withService(answerAgents, async (service) => {
    for (const agent of chosen) {
      const checked = await check(agent, service, join(folder, agent.name));
      print({ what: agent.package, ...checked });
      if (checked.verdict === 'NOT CHECKED') continue;
      print({ what: `${agent.package}: svc verify`, ...(await verifyJobs(service, known)) });
    }
  });
} finally {
  await rm(folder, { recursive: true });
}
