import { describe, expect, it } from '@jest/globals';
import { drawQuestions, isRight } from '../../api/canary/questions.ts';
import { reportWorkers, type Trial } from '../../api/canary/trial.ts';
import { chatCompletionRequest } from '../../api/contracts/chatCompletion.ts';
import { wantedTokens } from '../../api/jobs/admission.ts';

const SEEDS = Array.from({ length: 200 }, (_, seed) => seed);
const draw = (seed: number, count = 5) => drawQuestions({ seed, count, modelId: 'model' });
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
      answers_right: 2,
      ...{ tokens_claimed: 36, tokens_counted: 30 },
      ...{ first_token_p50_ms: 200, credits_charged: 24n, faults: [] },
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
