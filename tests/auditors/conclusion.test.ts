import { describe, expect, it } from '@jest/globals';
import type { Check, Verdict } from '../../programs/client/verify/check.ts';
import { conclusionOf } from '../../programs/client/verify/conclusion.ts';

const check = (name: string, verdict: Verdict): Check => ({
  name,
  verdict,
  detail: '',
  evidence: [],
});

const TEXT = 'Your text is not the proven one.';
const RECEIPT = 'Your receipt does not fit it.';

describe('the conclusion of a verification', () => {
  it.each<[string, Verdict, Verdict, Verdict, string]>([
    ['holds', 'holds', 'holds', 'holds', 'The job holds'],
    ['has no text to compare', 'holds', 'not_applicable', 'not_applicable', 'The job holds'],
    ['differs from the text', 'holds', 'fails', 'holds', `The job holds. ${TEXT}`],
    [
      'differs from text and receipt',
      'holds',
      'fails',
      'fails',
      `The job holds. ${TEXT} ${RECEIPT}`,
    ],
    ['differs from the receipt', 'holds', 'holds', 'fails', `The job holds. ${RECEIPT}`],
    ['fails', 'fails', 'holds', 'holds', 'The job fails'],
    ['fails, and the text differs', 'fails', 'fails', 'fails', 'The job fails'],
    ['lacks evidence', 'not_checkable', 'holds', 'holds', 'Not everything could be checked'],
    [
      'lacks evidence, and the text differs',
      'not_checkable',
      'fails',
      'holds',
      `Not everything could be checked. ${TEXT}`,
    ],
    [
      'has no proof to compare',
      'holds',
      'not_checkable',
      'holds',
      'Not everything could be checked',
    ],
  ])('of a job that %s', (_what, rule, text, receipt, title) => {
    const shown = conclusionOf([
      check('proof.hash', rule),
      check('delivery.output', text),
      check('delivery.receipt', receipt),
    ]);

    expect(shown.title).toBe(title);
    const isBad = ['fails', 'differs'].includes(shown.result);
    expect(isBad).toBe([rule, text, receipt].includes('fails'));
    expect(shown.result === 'fails').toBe(rule === 'fails');
  });
});
