import { Session } from 'node:inspector/promises';
import { relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type RunningService, startRunningService } from '../../testing/service/runningService.ts';
import { createScriptedEngine } from '../../testing/workers/engines.ts';
import { ROOT } from './sourceTree.ts';

/** What happens once in a while happens during some of them only. */
const RUNS = 10;
/** Latencies and timings are written twice a second: on a busy machine during each of the runs. */
const TIMED = ['api/openJobs.ts', 'api/sql/workers.ts', 'api/sql/workerHours.ts'];

/** The ledger of this process reads with them what the API has sent. */
const OF_LEDGER = /^programs\/client\/wire\/(decode|reader|sane)\.ts$/;

let service: RunningService;

beforeAll(async () => {
  service = await startRunningService({ workers: [createScriptedEngine()], indexer: 'process' });
});

afterAll(() => service?.close());

const complete = () =>
  service.openai().chat.completions.create({
    model: service.model.id,
    messages: [{ role: 'user', content: 'Hello.' }],
  });

/** Files whose functions ran while this did, by their paths in the checkout. */
async function filesOf(work: () => Promise<unknown>): Promise<string[]> {
  const session = new Session();
  session.connect();
  await session.post('Profiler.enable');
  await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false });
  await session.post('Profiler.takePreciseCoverage');
  await work();
  const { result } = await session.post('Profiler.takePreciseCoverage');
  session.disconnect();
  const ran = result.filter(({ functions }) =>
    functions.some(
      ({ functionName, ranges }) => functionName !== '' && ranges.some(({ count }) => count > 0),
    ),
  );
  const paths = ran.map(({ url }) => (url.startsWith('file:') ? fileURLToPath(url) : url));
  return [...new Set(paths.map((path) => relative(ROOT, path)))].sort();
}

describe('a plain completion', () => {
  it('runs through at most 65 files of API, client and common code', async () => {
    // The first one compiles, connects and fills what later ones find ready.
    await complete();
    // So that the API reads no prices and no workers during a run.
    service.time.hold();
    const runs: string[][] = [];
    for (let run = 0; run < RUNS; run += 1) runs.push(await filesOf(complete));
    const files = runs.reduce((some, other) => some.filter((path) => other.includes(path)));
    const own = files.filter(
      (path) =>
        /^(api|programs\/client|common)\//.test(path) &&
        !TIMED.includes(path) &&
        !OF_LEDGER.test(path),
    );
    expect(own).toContain('api/jobs/completion.ts');
    // Too many are shown by name.
    expect(own.length > 65 ? own : []).toEqual([]);
  });
});
