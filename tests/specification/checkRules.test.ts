import { describe, expect, it } from '@jest/globals';
import { findFaults } from './checkRules.ts';

const title = (...ids: string[]): string =>
  `it('works ${ids.map((id) => `[${id}]`).join(' ')}', run);`;

const faultsOf = (rule: { open?: string }, source: string): string[] =>
  findFaults([{ id: 'a.rule', rule: 'Something holds.', ...rule }], new Map([['a', source]]));

describe('a rule', () => {
  it('is shown by a test with its id at the end of the title', () => {
    expect(faultsOf({}, title('a.rule'))).toEqual([]);
    expect(
      findFaults([{ id: 'b.rule', rule: '' }], new Map([['a', title('b.rule', 'b.rule')]])),
    ).toEqual([]);
  });

  it('is not shown by an id outside a title', () => {
    expect(faultsOf({}, 'const list = [a.rule];')).toEqual(['a.rule: no test shows it']);
  });

  it('is not shown by a skipped test', () => {
    const source = `it.${'skip'}('works [a.rule]', run);`;
    expect(faultsOf({}, source)).toEqual(['a: a skipped test shows no rule']);
  });

  it('may be open with a reason', () => {
    expect(faultsOf({ open: 'It is not built.' }, '')).toEqual([]);
    expect(faultsOf({ open: '' }, '')).toEqual(['a.rule: does not say what is open']);
  });

  it('cannot be open once a test shows it', () => {
    expect(faultsOf({ open: 'It is not built.' }, title('a.rule'))).toEqual([
      'a.rule: is shown, and said to be open',
    ]);
  });

  it('must be listed before a title names it', () => {
    expect(faultsOf({ open: 'It is not built.' }, title('b.rule'))).toEqual([
      'a: no rule has the id b.rule',
    ]);
  });

  it('has a unique id', () => {
    const rule = { id: 'a.rule', rule: 'Something holds.', open: 'It is not built.' };
    expect(findFaults([rule, rule], new Map())).toEqual(['two rules have the same id']);
  });
});
