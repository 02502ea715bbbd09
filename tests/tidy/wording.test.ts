import { describe, expect, it } from '@jest/globals';
import { functionsOf } from './functions.ts';
import { proseOf } from './prose.ts';
import { bannedWord, faultsOfMessage, tooLong } from './wording.ts';

const wordsIn = (path: string, source: string) =>
  proseOf(path, source).flatMap((prose) => {
    const word = bannedWord(prose);
    return word === undefined ? [] : [[prose.kind, prose.line, word]];
  });
/** Assembled, so that this file itself has none of the words. */
const WORD = ['no', 'body'].join('');
const LONG = 'word '.repeat(26).trim();

describe('the words of a source', () => {
  it.each([
    ['a.ts', `const a = 1;\n// For ${WORD}.`, ['comment', 2, WORD]],
    ['a.ts', `/**\n * For ${WORD}.\n */\nconst a = 1;`, ['comment', 1, WORD]],
    ['a.ts', `const a = 'for ${WORD}';`, ['string', 1, WORD]],
    ['a.ts', `const a = \`for \${1} ${WORD}\`;`, ['string', 1, WORD]],
    ['a.tsx', `const a = <p>for ${WORD}</p>;`, ['string', 1, WORD]],
    ['a.ts', `const ${WORD} = 1;`, ['name', 1, WORD]],
    ['a.mjs', `const isFor_${WORD} = 1;`, ['name', 1, WORD]],
    ['a.rs', `fn a() {}\n/// For ${WORD}.`, ['comment', 2, WORD]],
    ['a.rs', `const A: &str = "for ${WORD}";`, ['string', 1, WORD]],
    ['a.rs', `fn for_${WORD}() {}`, ['name', 1, WORD]],
    ['a.sql', `select 1;\n-- For ${WORD}.`, ['comment', 2, WORD]],
    ['a.sh', `#!/bin/sh\necho a # for ${WORD}`, ['comment', 2, WORD]],
  ])('are found in %s: %j', (path, source, found) => {
    expect(wordsIn(path, source)).toEqual([found]);
  });

  it('are whole words, in names by their capitals', () => {
    expect(wordsIn('a.ts', `const s${WORD} = 'a${WORD}';`)).toEqual([]);
    expect(wordsIn('a.ts', `const is${WORD[0]?.toUpperCase()}${WORD.slice(1)} = 1;`)).toHaveLength(
      1,
    );
  });
});

describe('a sentence', () => {
  const longIn = (path: string, source: string) => proseOf(path, source).flatMap(tooLong);

  it('is too long with 26 words, in a comment over several lines too', () => {
    expect(longIn('a.ts', `// ${LONG}.`)).toEqual([`26 words: ${LONG}.`]);
    expect(longIn('a.ts', `// ${LONG.slice(0, 50)}\n//${LONG.slice(50)}.`)).toHaveLength(1);
    expect(longIn('a.ts', `const a = '${LONG}.';`)).toHaveLength(1);
    expect(longIn('a.rs', `/// ${LONG}.`)).toHaveLength(1);
  });

  it('ends with a full stop, a paragraph or a tag', () => {
    const half = LONG.slice(0, 60);
    expect(longIn('a.ts', `// ${half}. ${half}.`)).toEqual([]);
    expect(longIn('a.ts', `/**\n * ${half}\n *\n * ${half}\n */`)).toEqual([]);
    expect(longIn('a.ts', `/**\n * ${half}\n * @returns ${half}\n */`)).toEqual([]);
  });

  it('is none in a string of code', () => {
    expect(longIn('a.ts', `const a = 'select ${LONG}';`)).toEqual([]);
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

  it('has none with a short subject and sentences', () => {
    expect(faultsOfMessage(`docs: ${'a'.repeat(66)}\n\nOne reason. Another one.`)).toEqual([]);
  });
});

describe('the functions of a source', () => {
  it('are counted with their lines, those inside of others too', () => {
    const source = 'function a() {\n  const b = () => {\n  };\n}\n';
    expect(functionsOf('a.ts', source)).toEqual([
      { line: 1, lines: 4 },
      { line: 2, lines: 2 },
    ]);
  });
});
