import { describe, expect, it } from '@jest/globals';
import type { AnswerCopy } from '../../api/jobs/claim.ts';
import { countTokens, storeForRepeats } from '../../api/jobs/settlement.ts';
import type { LockedJob } from '../../api/ledger/job.ts';
import type { ProvenAnswer } from '../../api/ledger/proof.ts';
import type { Logger } from '../../common/logger.ts';
import type { ToolCall } from '../../programs/client/statement.ts';

const TOKEN_LIMIT = 100;
/** Eight credits up to 45 tokens, and 4 for each 1,000 above. */
const model = {
  ...{ id: 'model', credits_per_request: 8, credits_per_1k_tokens: 4 },
  long_completion_threshold_tokens: 45,
};
const job = { id: 'job', model, tokenLimit: TOKEN_LIMIT, lockCredits: 8n } as LockedJob;

const provenWith = (completionTokens: number, toolCalls: readonly ToolCall[] = []) => {
  const said = { text: 'Hello.', reasoning: '', toolCalls };
  return { ...said, proof: { promptTokens: 7, completionTokens } } as ProvenAnswer;
};

describe('the tokens of a settlement', () => {
  it.each([
    ['the worker’s, where ours are more', 50, 40, 50, 40, 8],
    ['ours, where the worker’s are more', 50, 60, 50, 50, 1],
    ['the limit, where both are more', 300, 400, 100, 100, 1],
  ])('are %s: of our %i and its %i', async (_what, ours, proven, counted, usage, credits) => {
    const tokens = { output: async () => ours };
    expect(await countTokens(tokens, job, provenWith(proven))).toEqual({
      countedTokens: counted,
      creditsCharged: credits,
      usage: {
        ...{ prompt_tokens: 7, completion_tokens: usage, total_tokens: 7 + usage },
        cost: credits / 100,
        completion_tokens_details: { reasoning_tokens: 0 },
      },
    });
  });

  it('are those of names and arguments, too', async () => {
    const tokens = { output: async (_model: string, text: string) => text.length };
    const calls = [{ id: 'call_1', name: 'tide', arguments: '{"at":6}' }];
    expect(await countTokens(tokens, job, provenWith(90, calls))).toMatchObject({
      countedTokens: 'Hello.'.length + 'tide{"at":6}'.length,
    });
  });

  it('are without those of the reasoning, which are counted apart', async () => {
    const tokens = { output: async (_model: string, text: string) => text.length };
    const answer = { ...provenWith(6), reasoning: 'Well, hello' };
    const { countedTokens, usage } = await countTokens(tokens, job, answer);
    expect(countedTokens).toBe(6);
    expect(usage).toMatchObject({
      completion_tokens: 6,
      completion_tokens_details: { reasoning_tokens: 11 },
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
