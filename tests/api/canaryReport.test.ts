import { describe, expect, it } from '@jest/globals';
import { reportWorkers, type Trial } from '../../api/canary/trial.ts';
import { chatCompletionRequest } from '../../api/contracts/chatCompletion.ts';

const request = chatCompletionRequest.parse({
  model: 'model',
  messages: [{ role: 'user', content: 'How many?' }],
});

function proven(text: string, firstTokenMs = 100): Trial {
  const tokens = { claimedTokens: 12, countedTokens: 10 };
  return { kind: 'proven', text, ...tokens, chargedCredits: 8n, firstTokenMs };
}

describe("a worker's report", () => {
  const unproven: Trial = { kind: 'unproven', fault: 'proof_missing', firstTokenMs: 900 };
  const report = (trials: Trial[], rightMin: number) => {
    const asked = trials.map(() => ({ request, expected: ['1'] }));
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

  it('leaves out jobs for which a worker had no capacity', () => {
    const full: Trial = { kind: 'full', firstTokenMs: undefined };
    expect(report([proven('1'), full, proven('2'), full], 0.5)).toMatchObject({
      ...{ jobs_asked: 4, jobs_proven: 2, jobs_refused: 2, answers_right: 1, faults: [] },
    });
    expect(report([proven('1'), full, proven('2'), full], 0.51)?.faults).toEqual([
      'right in 1 of 2, less than 0.51',
    ]);
    expect(report([full, full], 1)?.faults).toEqual([]);
  });

  it('finds a fault in every kind of missing proof and counts the rest', () => {
    const gone: Trial = { kind: 'unproven', fault: 'overdue', firstTokenMs: undefined };
    expect(report([unproven, proven('1'), unproven, gone], 0.25)).toMatchObject({
      ...{ jobs_asked: 4, jobs_proven: 1, credits_charged: 8n, first_token_p50_ms: 900 },
      faults: ['2 of 4 not proven: proof_missing', '1 of 4 not proven: overdue'],
    });
  });
});
