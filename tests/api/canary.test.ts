import { afterAll, describe, expect, it } from '@jest/globals';
import { drawQuestions, isRight } from '../../api/canary/questions.ts';
import { reportWorkers, type Trial } from '../../api/canary/trial.ts';
import { chatCompletionRequest } from '../../api/contracts/chatCompletion.ts';
import { createFormatCheck } from '../../api/format/formatCheck.ts';
import { chatForWorker, wantedTokens } from '../../api/jobs/admission.ts';
import { createLogger } from '../../common/logger.ts';
import { createBuiltinEngine } from '../../worker/engine/builtin.ts';
import { jobBody } from '../../worker/protocol/contracts.ts';

const SEEDS = Array.from({ length: 200 }, (_, seed) => seed);
const draw = (seed: number, count = 5, hasTools = false) =>
  drawQuestions({ seed, count, modelId: 'model', hasTools });
const prompt = (question: ReturnType<typeof draw>[number] | undefined): string =>
  question?.request.messages[0]?.content ?? '';

describe('questions drawn from a seed', () => {
  it('differ for another seed, and cover each ability equally often', () => {
    const prompts = SEEDS.flatMap((seed) => draw(seed, 4).map(prompt));
    expect(new Set(prompts).size).toBeGreaterThan(prompts.length * 0.95);
    const isNumber = ({ expected }: { expected: readonly string[] }) => expected.length === 1;
    for (const seed of SEEDS) expect(draw(seed, 8).filter(isNumber)).toHaveLength(4);
  });

  it("resemble clients' requests: texts, limits and seeds vary", () => {
    const requests = SEEDS.flatMap((seed) => draw(seed)).map(({ request }) => request);
    const limits = new Set(requests.map(wantedTokens));
    const beginnings = new Set(requests.map(({ messages }) => messages[0]?.content.slice(0, 12)));
    expect([...limits].sort()).toEqual([128, 48, 64, 96]);
    expect(beginnings.size).toBeGreaterThan(50);
    expect(new Set(requests.map(({ seed }) => seed)).size).toBe(requests.length);
    expect(new Set(requests.map(({ temperature }) => temperature))).toEqual(new Set([0]));
  });

  it('are not answered by an echo or by the answer to another question', () => {
    for (const seed of SEEDS) {
      const questions = draw(seed, 4);
      for (const question of questions) {
        expect(isRight(question, prompt(question))).toBe(false);
        const others = questions.filter((one) => one.expected.join() !== question.expected.join());
        for (const other of others) {
          expect(isRight(question, other.expected.join(' '))).toBe(false);
        }
      }
    }
  });

  it('have the right answers', () => {
    const answers = new Map(
      SEEDS.flatMap((seed) => draw(seed, 4)).map((one) => [prompt(one), one.expected.join(' ')]),
    );
    const asked = (pattern: RegExp) =>
      [...answers].flatMap(([text, answer]) => {
        const match = pattern.exec(text);
        return match ? [{ parts: match.slice(1), answer }] : [];
      });
    const sums = asked(/What is (\d+) \+ (\d+)\?/);
    expect(sums.length).toBeGreaterThan(10);
    for (const { parts, answer } of sums) {
      expect(answer).toBe(String(Number(parts[0]) + Number(parts[1])));
    }
    const reversals = asked(/from last to first: (\w+), (\w+), (\w+)\./);
    expect(reversals.length).toBeGreaterThan(10);
    for (const { parts, answer } of reversals) expect(answer).toBe(parts.toReversed().join(' '));
  });
});

describe('a question with a schema', () => {
  const asked = SEEDS.flatMap((seed) => draw(seed, 9)).filter(
    ({ request }) => request.response_format,
  );
  const nameOf = ({ request }: (typeof asked)[number]) =>
    /"required":\["(\w+)"\]/.exec(JSON.stringify(request))?.[1] as string;
  const formats = createFormatCheck({ logger: createLogger({ name: 'test', level: 'silent' }) });
  const keeps = ({ request }: (typeof asked)[number], text: string) =>
    formats.judge(request, { text, finishReason: 'stop' });

  afterAll(() => formats.close());

  it('is one of three, with a drawn name that the task does not say', () => {
    expect(asked).toHaveLength(SEEDS.length * 3);
    expect(new Set(asked.map(nameOf)).size).toBeGreaterThan(300);
    for (const one of asked) expect(prompt(one)).not.toContain(nameOf(one));
  });

  it('is answered by the right value alone, in the form alone', async () => {
    for (const one of asked.slice(0, 12)) {
      const value = one.expected.length > 1 ? one.expected : Number(one.expected[0]);
      const text = JSON.stringify({ [nameOf(one)]: value });
      expect([isRight(one, text), await keeps(one, text)]).toEqual([true, true]);
      const others = [
        JSON.stringify({ answer: value }),
        one.expected.join(', '),
        text.slice(0, -2),
      ];
      for (const other of others) expect([other, await keeps(one, other)]).toEqual([other, false]);
    }
  });

  it('is kept by the built-in engine', async () => {
    const engine = createBuiltinEngine({ tokenDelayMs: 0 });
    for (const one of asked.slice(0, 4)) {
      const { request } = one;
      const limits = {
        tokenLimit: wantedTokens(request) ?? 48,
        signal: new AbortController().signal,
      };
      let text = '';
      for await (const event of engine.generate(
        jobBody.shape.chat.parse(chatForWorker(request)),
        limits,
      )) {
        if (event.type === 'text') text += event.text;
      }
      expect([text, await keeps(one, text)]).toEqual([text, true]);
    }
  });
});

describe('a question with a tool', () => {
  const asked = SEEDS.flatMap((seed) => draw(seed, 9, true)).filter(({ request }) => request.tools);
  const toolOf = ({ request }: (typeof asked)[number]) => request.tools?.[0]?.function;

  it('is one of three, apart from those with a schema, and forces a drawn name', () => {
    expect(asked).toHaveLength(SEEDS.length * 3);
    expect(asked.filter(({ request }) => request.response_format)).toEqual([]);
    expect(new Set(asked.map((one) => toolOf(one)?.name)).size).toBeGreaterThan(300);
    for (const one of asked) {
      const { name = '', parameters } = toolOf(one) ?? {};
      expect(chatForWorker(one.request)).toMatchObject({
        tool_choice: { type: 'function', function: { name } },
      });
      const [argument = ''] = (parameters?.required ?? []) as string[];
      expect(prompt(one)).not.toMatch(new RegExp(`${name}|${argument}`));
      const value = one.expected.length > 1 ? one.expected : Number(one.expected[0]);
      expect(isRight(one, JSON.stringify({ [argument]: value }))).toBe(true);
    }
  });

  it('is drawn only where the service has tools', () => {
    const all = SEEDS.flatMap((seed) => draw(seed, 9));
    expect(all.filter(({ request }) => request.tools)).toEqual([]);
  });
});

describe('an answer', () => {
  const words = ['lamp', 'stone', 'river'];

  it.each([
    [['68'], true, ['68', 'The sum is 68.', '23 + 45 = **68**', '68, since 60 and 8 is 68']],
    [['68'], false, ['168', '680', '6 8', '68.5', '1,068', 'x68', '']],
    [words, true, ['lamp, stone, river', 'Lamp, Stone, and River', '1. lamp\n2. stone\n3. river']],
    [words, false, ['river, stone, lamp', 'lamp, river', 'lamps, stone, river', 'lampstoneriver']],
  ])('to %j is right (%s) by its number or its words in order: %j', (expected, right, texts) => {
    for (const text of texts) expect([text, isRight({ expected }, text)]).toEqual([text, right]);
  });
});

const asking = chatCompletionRequest.parse({
  model: 'model',
  messages: [{ role: 'user', content: 'How many?' }],
});

function proven(text: string, firstTokenMs = 100): Trial {
  const tokens = { claimedTokens: 12, countedTokens: 10 };
  return { kind: 'proven', text, ...tokens, chargedCredits: 8n, firstTokenMs };
}

describe("a worker's report", () => {
  const report = (trials: Trial[], rightMin: number) => {
    const asked = trials.map(() => ({ request: asking, expected: ['1'] }));
    return reportWorkers({ questions: asked, trials: new Map([['worker', trials]]), rightMin })[0];
  };

  it("sums up the worker's jobs", () => {
    expect(report([proven('1', 300), proven('2', 100), proven('1', 200)], 0)).toEqual({
      ...{ worker: 'worker', jobs_asked: 3, jobs_proven: 3, jobs_refused: 0 },
      ...{ answers_right: 2, formats_judged: 0, formats_kept: 0, tools_judged: 0, tools_called: 0 },
      ...{ tokens_claimed: 36, tokens_counted: 30 },
      ...{ first_token_p50_ms: 200, credits_charged: 24n, faults: [] },
    });
  });

  it('shows a fault where a schema was not kept', () => {
    const judged = [true, false, null, undefined].map((keepsFormat) => ({
      ...proven('1'),
      keepsFormat,
    }));
    expect(report(judged, 0)).toMatchObject({
      ...{ formats_judged: 2, formats_kept: 1, faults: ['kept the schema in 1 of 2'] },
    });
  });

  it('shows a fault where a tool was not called', () => {
    const judged = [true, false, null, undefined].map((callsTools) => ({
      ...proven('1'),
      callsTools,
    }));
    expect(report(judged, 0)).toMatchObject({
      ...{ tools_judged: 2, tools_called: 1, faults: ['called the tool in 1 of 2'] },
    });
  });

  it('shows a fault only below the minimum share of right answers', () => {
    const threeOfFive = [...'11122'].map((text) => proven(text));
    // A share equal to the limit is within it, also where it has no exact form.
    expect(report(threeOfFive, 0.6)?.faults).toEqual([]);
    const sevenOf25 = Array.from({ length: 25 }, (_, index) => proven(index < 7 ? '1' : '2'));
    expect(report(sevenOf25, 0.28)?.faults).toEqual([]);
    expect(report(threeOfFive, 0.61)?.faults).toEqual(['right in 3 of 5, less than 0.61']);
  });
});
