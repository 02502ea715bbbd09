import { describe, expect, it } from '@jest/globals';
import { conclusionOf, type Verdict } from '../../programs/client/verify/check.ts';

const TEXT = 'Your text is not the proven one.';
const UNCHECKED = 'Not everything could be checked';
const RECEIPT = 'Your receipt does not fit it.';

describe('the conclusion of a verification', () => {
  it.each<[string, Verdict, Verdict, Verdict, string]>([
    ['holds', 'holds', 'holds', 'holds', 'The job holds'],
    ['has no text to compare', 'holds', 'not_applicable', 'not_applicable', 'The job holds'],
    ['differs from the text', 'holds', 'fails', 'holds', `The job holds. ${TEXT}`],
    ['differs from both', 'holds', 'fails', 'fails', `The job holds. ${TEXT} ${RECEIPT}`],
    ['differs from the receipt', 'holds', 'holds', 'fails', `The job holds. ${RECEIPT}`],
    ['fails', 'fails', 'holds', 'holds', 'The job fails'],
    ['fails, and the text differs', 'fails', 'fails', 'fails', 'The job fails'],
    ['lacks evidence', 'not_checkable', 'holds', 'holds', UNCHECKED],
    ['lacks evidence, and differs', 'not_checkable', 'fails', 'holds', `${UNCHECKED}. ${TEXT}`],
    ['has no proof to compare', 'holds', 'not_checkable', 'holds', UNCHECKED],
  ])('of a job that %s', (_what, rule, text, receipt, title) => {
    const verdicts = { 'proof.hash': rule, 'delivery.output': text, 'delivery.receipt': receipt };
    const shown = conclusionOf(
      Object.entries(verdicts).map(([name, verdict]) => ({
        ...{ name, verdict, detail: '', evidence: [] },
      })),
    );
    expect(shown.title).toBe(title);
    const isBad = ['fails', 'differs'].includes(shown.result);
    expect(isBad).toBe([rule, text, receipt].includes('fails'));
    expect(shown.result === 'fails').toBe(rule === 'fails');
  });
});
