import { describe, expect, it } from '@jest/globals';
import { spansOf } from '../../console/pages/jobs/spans.ts';

const timings = { lock_ms: 20, first_token_ms: 30, worker_ms: 100, settlement_ms: 15 };

describe("the bars of a job's stages", () => {
  it('follow each other, and each is as long as its stage took', () => {
    expect(spansOf(timings)).toEqual([
      { name: 'Lock', fromMs: 0, toMs: 20 },
      { name: 'First token', fromMs: 20, toMs: 50 },
      { name: 'Answer', fromMs: 50, toMs: 120 },
      { name: 'Settlement', fromMs: 120, toMs: 135 },
    ]);
  });

  it('leave out stages that did not happen', () => {
    expect(spansOf({ ...timings, first_token_ms: null, settlement_ms: null })).toEqual([
      { name: 'Lock', fromMs: 0, toMs: 20 },
      { name: 'Answer', fromMs: 20, toMs: 120 },
    ]);
    expect(spansOf({ ...timings, lock_ms: null })).toEqual([]);
  });
});
