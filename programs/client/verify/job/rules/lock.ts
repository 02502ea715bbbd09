import { lockCredits } from '../../../pricing.ts';
import { TIERS, word } from '../../../vocabulary.ts';
import { compare } from '../../compare.ts';
import { judgeBalances } from '../judgeBalances.ts';
import { rule } from '../rule.ts';

/** The job is where only this wallet's job of this id can be. */
export const address = rule('lock.address', ['JobLocked'], ({ JobLocked }, { addresses, job }) => {
  const { creditAccount, wallet, jobId, model, modelId } = JobLocked.data;
  return compare(
    {
      'the job': [job, addresses.job(creditAccount, jobId)],
      'the credit account': [creditAccount, addresses.creditAccount(wallet)],
      'the model': [model, addresses.model(modelId)],
    },
    `Job, credit account and model are where id, wallet ${wallet.toBase58()} and ${modelId} put them.`,
  );
});

/** The price was set by the published rule before any work was done. */
export const price = rule('lock.price', ['JobLocked'], ({ JobLocked }) => {
  const { modelId, tier, tokenLimit, lockedCredits } = JobLocked.data;
  const due = lockCredits(JobLocked.data, tokenLimit);
  const { creditsPerRequest, creditsPer1kTokens, longCompletionThresholdTokens } = JobLocked.data;
  return compare(
    { 'the lock': [lockedCredits, due] },
    `${modelId} (${word(TIERS, tier)}), at most ${tokenLimit} tokens: ${due} credits locked, from ` +
      `${creditsPerRequest} per request, ${creditsPer1kTokens} per 1,000 tokens beyond ` +
      `${longCompletionThresholdTokens}.`,
  );
});

/** The wallet's credits moved from available to locked. */
export const balances = rule('lock.balances', ['JobLocked'], ({ JobLocked }, record) => {
  const { lockedCredits } = JobLocked.data;
  return judgeBalances(record, JobLocked, {
    availableCredits: -lockedCredits,
    lockedCredits,
  });
});
