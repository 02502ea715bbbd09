import { describe, expect, it } from '@jest/globals';
import { proseOf } from './prose.ts';
import { bannedWord, faultsOfMessage, tooLong } from './wording.ts';

/** Assembled, so that this file itself has none of the words. */
const WORD = ['no', 'body'].join('');
const LONG = 'word '.repeat(26).trim();

describe('the words of a source', () => {
  it.each([
    ['a.ts', `/**\n * For ${WORD}.\n */\nconst a = 1;`, ['comment', 1]],
    ['a.ts', `const a = \`for \${1} ${WORD}\`;`, ['string', 1]],
    ['a.tsx', `const a = <p>for ${WORD}</p>;`, ['string', 1]],
    ['a.mjs', `const isFor_${WORD} = 1;`, ['name', 1]],
    ['a.rs', `fn a() {}\n/// For ${WORD}.`, ['comment', 2]],
    ['a.rs', `const A: &str = "for ${WORD}";`, ['string', 1]],
    ['a.sql', `select 1;\n-- For ${WORD}.`, ['comment', 2]],
    ['a.sh', `#!/bin/sh\necho a # for ${WORD}`, ['comment', 2]],
  ])('are found in %s: %j', (path, source, found) => {
    const banned = proseOf(path, source).filter((prose) => bannedWord(prose) === WORD);
    expect(banned.map(({ kind, line }) => [kind, line])).toEqual([found]);
  });
});

describe('a sentence', () => {
  const longIn = (source: string) => proseOf('a.ts', source).flatMap(tooLong);

  it('is too long with 26 words, over several lines too', () => {
    expect(longIn(`// ${LONG.slice(0, 50)}\n//${LONG.slice(50)}.`)).toHaveLength(1);
    expect(longIn(`const a = '${LONG}.';`)).toEqual([`26 words: ${LONG}.`]);
  });

  it('ends with a full stop or a tag, and is none in code', () => {
    const half = LONG.slice(0, 60);
    expect(longIn(`// ${half}. ${half}.`)).toEqual([]);
    expect(longIn(`/**\n * ${half}\n * @returns ${half}\n */`)).toEqual([]);
    expect(longIn(`const a = 'select ${LONG}';`)).toEqual([]);
  });
});

describe('the message of a commit', () => {
  it.each([
    [`docs: ${'a'.repeat(67)}`, '73 characters'],
    ['docs: one change; another', 'two changes'],
    [`docs: for ${WORD}`, `the word "${WORD}"`],
    [`docs: one change\n\n${LONG}.`, '26 words'],
  ])('has a fault: %j', (message, fault) => {
    expect(faultsOfMessage(message)).toEqual([expect.stringContaining(fault)]);
  });
});
