import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { LAUNCH_CATALOG } from '../../stack/bootstrap.ts';
import { findFreePort } from '../../stack/port.ts';
import { createBuiltinEngine } from '../../worker/engine/builtin.ts';
import type { Engine } from '../../worker/engine/engine.ts';
import { WorkerError } from '../../worker/protocol/errors.ts';
import { measureCapacity } from '../../worker/setup/capacity.ts';
import { describeEarnings, plotBars } from '../../worker/setup/status.ts';
import { listUpstreamModels, proposeModels, tryModels } from '../../worker/setup/upstreamModels.ts';
import { startUpstream, type UpstreamServer } from '../worker/upstreamServer.ts';

const CATALOG = LAUNCH_CATALOG.map(({ id }) => id);
const NONE = new Map<string, string>();

describe("an upstream's list", () => {
  let upstream: UpstreamServer;
  beforeAll(async () => {
    upstream = await startUpstream();
  });
  afterAll(() => upstream.close());
  const listWith = (status: number, body: object) => {
    upstream.answerTrialsWith((reply) => reply.refuse(status, body));
    return listUpstreamModels(upstream.url, undefined);
  };

  it('has its names, or may be missing', async () => {
    expect(await listWith(200, { data: [{ id: 'a' }, { id: 'b' }] })).toEqual(['a', 'b']);
    for (const status of [404, 405, 501]) expect(await listWith(status, {})).toBeUndefined();
  });

  it.each([
    [401, {}, 'answers with status 401. WORKER_UPSTREAM_KEY holds its key.'],
    [500, {}, 'answers with status 500.'],
    [503, {}, 'answers with status 503. It may still load its model: try again soon.'],
    [200, {}, 'answers without a list of models.'],
  ])('is not missing when it cannot be read: %d %j', async (status, body, sentence) => {
    await expect(listWith(status, body)).rejects.toThrow(sentence);
  });

  it('ends with the connection’s error code when its server is away', async () => {
    const url = `http://127.0.0.1:${await findFreePort()}/v1`;
    await expect(listUpstreamModels(url, undefined)).rejects.toThrow(
      `No upstream answers at ${url}/models: nothing listens at its address (ECONNREFUSED). Start it first.`,
    );
  });
});

describe("an upstream's names", () => {
  it.each([
    ['qwen3:8b', 'qwen3-8b'],
    ['Qwen/Qwen3-8B-AWQ', 'qwen3-8b'],
    ['Qwen3-1.7B-Q4_K_M.gguf', 'qwen3-1.7b'],
    ['/models/qwen3-14b-fp8', 'qwen3-14b'],
    ['llama3.2:3b', 'llama-3.2-3b-instruct'],
    ['meta-llama/Llama-3.3-70B-Instruct', 'llama-3.3-70b-instruct'],
    ['unsloth/Meta-Llama-3.3-70B-Instruct', 'llama-3.3-70b-instruct'],
    ['gemma3:27b', 'gemma-3-27b-it'],
    ['mistralai/Mistral-7B-Instruct-v0.3', 'mistral-7b-instruct-v0.3'],
    // Which may be another model.
    ...['llama3.2:latest', 'qwen3:32b', 'qwen2.5:7b', 'qwen3-17b', 'mistral:7b'].map(
      (name) => [name, undefined] as const,
    ),
  ])('%s is proposed for %s', (name, id) => {
    const proposed = id === undefined ? [] : [[id, name]];
    expect([...proposeModels(CATALOG, ['other', name], NONE)]).toEqual(proposed);
  });

  it('go to models as their operator chooses', () => {
    const chosen = new Map([['qwen3-8b', 'my-model']]);
    const upstream = ['qwen3:8b', 'my-model', 'qwen3:14b'];
    expect([...proposeModels(CATALOG, upstream, chosen)]).toEqual([
      ['qwen3-14b', 'qwen3:14b'],
      ['qwen3-8b', 'my-model'],
    ]);
    const unknown = new Map([['qwen3-8b', 'absent']]);
    expect(() => proposeModels(CATALOG, upstream, unknown)).toThrow("has no model 'absent', but");
    const uncatalogued = new Map([['qwen9', 'my-model']]);
    expect(() => proposeModels(CATALOG, upstream, uncatalogued)).toThrow(
      "The catalog has no model 'qwen9'",
    );
  });
});

const TOKENS = 8;
const TICK_MS = 10;

/** In each tick of its own clock it writes so many tokens in all; further answers share or are refused. */
function createSharedEngine(atOnce: number, surplus: 'shares' | 'is refused') {
  const clock = { nowMs: 0 };
  const waiting: (() => void)[] = [];
  let running = 0;

  function tick(): void {
    clock.nowMs += TICK_MS;
    for (const write of waiting.splice(0, atOnce)) write();
    if (running > 0) setImmediate(tick);
  }

  const engine: Engine = {
    kind: 'upstream',
    async *generate({ model }) {
      if (model === 'absent') throw new WorkerError('upstream_failed', 'status 404');
      if (running === atOnce && surplus === 'is refused') throw new WorkerError('no_free_slot', '');
      running += 1;
      if (running === 1) setImmediate(tick);
      for (let token = 0; token < TOKENS; token += 1) {
        await new Promise<void>((resolve) => waiting.push(resolve));
        yield { type: 'text', text: 'word ' };
      }
      running -= 1;
      yield { type: 'end', finishReason: 'length' };
    },
  };
  return { engine, nowMs: () => clock.nowMs };
}

describe('a trial of models', () => {
  it('leaves out those that do not answer', async () => {
    const lines: string[] = [];
    const report = (line: string) => void lines.push(line);
    const { engine } = createSharedEngine(1, 'shares');
    expect(await tryModels(engine, ['absent', 'present'], report)).toEqual(['present']);
    expect(lines[0]).toBe('absent does not answer and is left out: status 404');
  });

  it('says which optional fields their server takes', async () => {
    const lines: string[] = [];
    const report = (line: string) => void lines.push(line);
    await tryModels(createSharedEngine(1, 'shares').engine, ['plain'], report);
    await tryModels(createBuiltinEngine({ tokenDelayMs: 0 }), ['able'], report);
    const taken = lines.filter((line) => line.includes(' takes '));
    expect(taken).toEqual([
      'plain takes no optional field',
      'able takes response_format and tools',
    ]);
  });
});

describe('a measurement of the capacity', () => {
  it.each(['shares', 'is refused'] as const)(
    'finds how many answers fit at a time when what is beyond %s',
    async (surplus) => {
      const steps: number[] = [];
      const { engine, nowMs } = createSharedEngine(4, surplus);
      const report = ({ jobs }: { jobs: number }) => void steps.push(jobs);
      expect(await measureCapacity(engine, 'model', report, nowMs)).toBe(4);
      expect(steps).toEqual([1, 2, 4, 8]);
    },
  );

  it('is 1 for an upstream whose answers only share its speed', async () => {
    const { engine, nowMs } = createSharedEngine(1, 'shares');
    expect(await measureCapacity(engine, 'model', () => undefined, nowMs)).toBe(1);
  });
});

const earned = (day: string, model: string, baseUnits: bigint) => ({
  day,
  model,
  baseUnits,
  completionTokens: 3,
});

it('a bar chart draws each value in proportion, to an eighth of a character', () => {
  const bars = [
    { label: 'a', value: 80, text: '80' },
    { label: 'long', value: 41, text: '41' },
    { label: 'no', value: 0, text: '0' },
  ];
  expect(plotBars(bars).split('\n')).toEqual([
    `a     ${'█'.repeat(40)} 80`,
    `long  ${'█'.repeat(20)}▌ 41`,
    'no    0',
  ]);
  expect(plotBars([{ label: 'a', value: 0, text: 'none' }])).toBe('a  none');
});

describe('the earnings of a worker', () => {
  it('are summed by day and by model, to a hundredth of a credit', () => {
    const earnings = [
      earned('2026-03-02', 'qwen3-8b', 68_000n),
      earned('2026-03-02', 'qwen3-14b', 17_099n),
      earned('2026-03-01', 'qwen3-8b', 34_000n),
    ];
    const lines = describeEarnings({ earnings, isCutOff: false }, 7).split('\n');
    expect(lines[0]).toBe('Earned 11.90 credits with 3 jobs in 7 days');
    expect(lines.map((line) => line.replace(/ *[█▏▎▍▌▋▊▉]+/, ''))).toEqual([
      lines[0],
      '',
      '2026-03-01 3.40 credits, 1 job',
      '2026-03-02 8.50 credits, 2 jobs',
      '',
      'qwen3-14b 1.70 credits, 1 job',
      'qwen3-8b 10.20 credits, 2 jobs',
    ]);
  });

  it('say when there are more jobs than were read, or none', () => {
    const earnings = [earned('2026-03-02', 'qwen3-8b', 68_000n)];
    expect(describeEarnings({ earnings, isCutOff: true }, 7)).toContain('with the last 1 job');
    expect(describeEarnings({ earnings: [], isCutOff: false }, 7)).toBe(
      'No job was settled in 7 days.',
    );
  });
});
