import { describe, expect, it } from '@jest/globals';
import { findFaults } from './checkRules.ts';
import { testsOf } from './testTitles.ts';

const source = `
describe('a thing', () => {
  it('works', async () => { expect(1).toBe(1); });
  it.each([[1], [2]])('works with %i', (n) => expect(n).toBeGreaterThan(0));
  it(\`works in \${mode}\`, () => { check(); });
  it('does nothing', () => {});
  it.skip('rests', () => { check(); });
  it.todo('comes later');
  // it('is a comment', () => { check(); });
});
describe.skip('a thing', () => {
  it('sleeps', () => { check(); });
});
describe('another thing', () => {
  it('works', () => { check(); });
});
`;

describe('the tests of a file', () => {
  it('are found by parsing it, with what they stand in', () => {
    const found = testsOf(source);

    expect(found.map(({ fullTitle }) => fullTitle)).toEqual([
      'a thing › works',
      'a thing › works with %i',
      'a thing › works in …',
      'a thing › does nothing',
      'a thing › rests',
      'a thing › comes later',
      'a thing › sleeps',
      'another thing › works',
    ]);
  });
});

describe('a rule', () => {
  const faultsOf = (shown: readonly string[] | { open: string }) =>
    findFaults([{ id: 'rule', rule: 'Something holds.', shown }], (file) =>
      file === 'a/file' ? testsOf(source) : undefined,
    );

  it.each(['a thing › works', 'works with %i', 'works in …'])('may be shown by %s', (title) => {
    expect(faultsOf([`a/file › ${title}`])).toEqual([]);
  });

  it.each([
    ['b/file › works', 'no such test file'],
    ['a/file › works well', 'no such test'],
    ['a/file › is a comment', 'no such test'],
    ['a/file › works', 'several tests have this title'],
    ['a/file › does nothing', 'the test is skipped or empty'],
    ['a/file › rests', 'the test is skipped or empty'],
    ['a/file › comes later', 'the test is skipped or empty'],
    ['a/file › sleeps', 'the test is skipped or empty'],
  ])('is not shown by %s: %s', (reference, fault) => {
    expect(faultsOf([reference])).toEqual([`rule: ${fault}: ${reference}`]);
  });

  it('names a test, or says what is open', () => {
    expect(faultsOf([])).toEqual(['rule: names no test']);
    expect(faultsOf({ open: '' })).toEqual(['rule: does not say what is open']);
    expect(faultsOf({ open: 'No test does it.' })).toEqual([]);
  });

  it('has a name of its own', () => {
    const rule = { id: 'rule', rule: 'Something holds.', shown: { open: 'No test.' } };

    expect(findFaults([rule, rule], () => undefined)).toEqual([
      'rule: there is another rule of this name',
    ]);
  });
});
