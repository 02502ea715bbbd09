import { describe, expect, it } from '@jest/globals';
import type { AnswerCopy } from '../../api/jobs/replay.ts';
import { countTokens, storeForRepeats } from '../../api/jobs/settlement.ts';
import type { LockedJob } from '../../api/ledger/job.ts';
import type { ProvenAnswer } from '../../api/ledger/proof.ts';
import type { Logger } from '../../common/logger.ts';

const TOKEN_LIMIT = 100;
const job = { id: 'job', model: { id: 'model' }, tokenLimit: TOKEN_LIMIT } as LockedJob;

const provenWith = (completionTokens: number) =>
  ({ text: 'Hello.', proof: { promptTokens: 7, completionTokens } }) as ProvenAnswer;

describe('the tokens of a settlement', () => {
  it.each([
    { what: 'the worker’s, where ours are more', ours: 50, proven: 40, counted: 50, usage: 40 },
    { what: 'ours, where the worker’s are more', ours: 50, proven: 60, counted: 50, usage: 50 },
    { what: 'the limit, where both are more', ours: 300, proven: 400, counted: 100, usage: 100 },
  ])('are $what', async ({ ours, proven, counted, usage }) => {
    const tokens = { output: async () => ours };
    expect(await countTokens(tokens, job, provenWith(proven))).toEqual({
      countedTokens: counted,
      usage: { prompt_tokens: 7, completion_tokens: usage, total_tokens: 7 + usage },
    });
  });
});

describe('an answer that cannot be kept for repeats', () => {
  it('is settled all the same, with one warning', async () => {
    const warnings: string[] = [];
    const logger = { warn: ({ msg }: { msg: string }) => void warnings.push(msg) } as Logger;
    const store = async () => {
      throw new Error('the database is away');
    };
    await storeForRepeats({ logger }, job, { store }, {} as AnswerCopy);
    expect(warnings).toEqual(['Failed to keep an answer for repeats']);
  });
});
