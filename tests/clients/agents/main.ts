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
import { AFTER, AGENTS, BEFORE, EDIT_AS_TEXT, FILE } from './agents.ts';
import { startRecorder } from './recorder.ts';

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
const UNCHANGED = `# Greets.\n${BEFORE}\n`;

type Verdict = Omit<SavedVerdict, 'what'>;
type Recorder = Awaited<ReturnType<typeof startRecorder>>;

/** The calls of the agent that runs. */
let calls: ScriptedCall[] = [];
/** What the tools of the agent that runs have answered so far, by its latest request. */
let results: string[] = [];
/** Whether each answer breaks off. */
let isBroken = false;

interface Asked {
  messages: { role: string; content?: unknown }[];
  tools?: unknown[];
}

const isResult = ({ role }: Asked['messages'][number]) => role === 'tool';
const asText = (content: unknown) =>
  typeof content === 'string' ? content : JSON.stringify(content);

/** Answers the n-th turn with the n-th call, and what has no tools with the edit as text. */
function answerAgents(upstream: UpstreamServer): void {
  passToolTrials(upstream);
  upstream.answerWith((reply, body) => {
    const { messages, tools = [] } = body as unknown as Asked;
    if (tools.length > 0) results = messages.filter(isResult).map(({ content }) => asText(content));
    if (isBroken) {
      reply.text('Half ');
      return reply.break();
    }
    const turn = messages.filter((message) => 'tool_calls' in message).length;
    const call = tools.length > 0 ? calls[turn] : undefined;
    if (call) sendCalls(reply, [call], turn);
    else reply.text(calls.length > 0 ? ENDING : EDIT_AS_TEXT);
    reply.complete(call ? 'tool_calls' : 'stop', 5, 7);
  });
}

/** @returns what runs its command in its folder; what keeps it from being installed is thrown */
async function settle(agent: Agent, service: RunningService, baseUrl: string, folder: string) {
  const place = { folder: join(folder, 'work'), home: join(folder, 'home') };
  for (const path of Object.values(place)) await mkdir(path, { recursive: true });
  const file = join(place.folder, FILE);
  await writeFile(file, UNCHANGED);
  const install = agent.from === 'npm' ? installFromNpm : installFromPypi;
  const commands = await install(join(folder, 'package'), [agent.package]);
  const { before, args, environment } = await agent.settle({
    ...place,
    ...{ baseUrl, apiKey: service.apiKey, model: service.model.id },
  });
  const env = {
    PATH: [commands, process.env.PATH].join(delimiter),
    HOME: place.home,
    ...agent.environment,
    ...environment,
  };
  const options = { cwd: place.folder, env, timeout: RUN_MS_MAX };
  return {
    file,
    async run(): Promise<void> {
      for (const each of [before, args]) {
        if (each === undefined) continue;
        const running = run(agent.command, each, options);
        // Some wait for what is written to them otherwise.
        running.child.stdin?.end();
        await running;
      }
    },
  };
}

type Settled = Awaited<ReturnType<typeof settle>>;

async function check(agent: Agent, { file, run }: Settled, recorder: Recorder): Promise<Verdict> {
  calls = agent.calls(file);
  results = [];
  recorder.take(); // What is of the agent before it.
  try {
    await run();
  } catch (error) {
    return { verdict: 'FAILS', reason: reasonOf(error) };
  }
  return verdictOf(agent, await readFile(file, 'utf8'), recorder.take());
}

/** Whether the agent says that its answer broke off, in place of taking what came for a whole one. */
async function checkBreak(reports: RegExp, { run }: Settled): Promise<Verdict> {
  isBroken = true;
  try {
    await run();
    return { verdict: 'FAILS', reason: 'It took half an answer for a whole one.' };
  } catch (error) {
    const reason = reasonOf(error);
    return reports.test(reason) ? { verdict: 'works' } : { verdict: 'FAILS', reason };
  } finally {
    isBroken = false;
  }
}

/** Judges the file, the results of calls that came back, and what the answers' headers named. */
function verdictOf(agent: Agent, edited: string, exchanges: ReturnType<Recorder['take']>): Verdict {
  const faults = [];
  if (edited !== UNCHANGED.replace(BEFORE, AFTER)) faults.push(`The file reads:\n${edited}`);
  if (calls.length !== results.length) faults.push(`${results.length} results of calls came back`);
  if (calls.length > 0 && !results[0]?.includes(BEFORE)) faults.push(`It read: ${results[0]}`);
  if (!(results.at(-1) ?? '').includes(agent.ends ?? '')) faults.push(`It ran: ${results.at(-1)}`);
  const asked = exchanges.filter(({ path }) => POSTED.test(path));
  const leftOut = new Set(asked.map(({ headers }) => headers['x-svc-left-out-tools']));
  if (leftOut.size !== 1 || !leftOut.has(agent.leftOut)) {
    faults.push(`Tools were left out: ${[...leftOut].join('; ')}`);
  }
  if (faults.length > 0) return { verdict: 'FAILS', reason: faults.join('\n') };
  const sizes = asked.map(({ bytes }) => Math.round(bytes / 1_000));
  return { verdict: 'works', reason: `${asked.length} requests, of ${sizes.join(', ')} KB` };
}

const POSTED = /^\/v1\/(?:chat\/completions|responses)$/;

/** The jobs of the wallet since the last time. */
async function newJobs(service: RunningService, known: Set<string>): Promise<string[]> {
  await service.untilMirrored();
  const { data } = await service.get('/v1/jobs?limit=100');
  const ids = (data as { id: string }[]).map(({ id }) => id).filter((id) => !known.has(id));
  for (const id of ids) known.add(id);
  return ids;
}

async function verifyJobs(service: RunningService, ids: readonly string[]): Promise<Verdict> {
  const faults = [];
  for (const id of ids) {
    const args = ['verify', id, '--rpc', service.ledger.rpcUrl, '--json'];
    const { code, output, error } = await runCli(args);
    const result = code === 0 ? JSON.parse(output).result : `${output}${error}`.trim();
    if (result !== 'holds') faults.push(`${id}: ${result}`);
  }
  if (ids.length <= calls.length) faults.push(`${ids.length} jobs of ${calls.length} calls`);
  return faults.length === 0
    ? { verdict: 'works', reason: `${ids.length} jobs hold` }
    : { verdict: 'FAILS', reason: faults.join('\n') };
}

const chosen = chosenOf(AGENTS, process.argv.slice(2));
const folder = await realpath(await mkdtemp(join(tmpdir(), 'svc-agents-')));
const known = new Set<string>();
try {
  await withService(answerAgents, async (service) => {
    const recorder = await startRecorder(service.baseUrl);
    for (const agent of chosen) {
      let settled: Settled;
      try {
        settled = await settle(agent, service, recorder.url, join(folder, agent.name));
      } catch (error) {
        print({ what: agent.package, verdict: 'NOT CHECKED', reason: reasonOf(error) });
        continue;
      }
      print({ what: agent.package, ...(await check(agent, settled, recorder)) });
      const jobs = await verifyJobs(service, await newJobs(service, known));
      print({ what: `${agent.package}: svc verify`, ...jobs });
      if (!agent.reports) continue;
      const broken = await checkBreak(agent.reports, settled);
      print({ what: `${agent.package}: an answer that breaks off`, ...broken });
      // They were refunded.
      await newJobs(service, known);
    }
    recorder.close();
  });
} finally {
  await rm(folder, { recursive: true });
}
