import { readFileSync } from 'node:fs';
import type { Random } from '../../testing/random.ts';

const fromRoot = (path: string) => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8');

/** The compiler's messages in another language, from a package that ships them. */
function translated(language: string): string {
  const folder = 'node_modules/@arethetypeswrong/core/node_modules/typescript/lib';
  const messages = JSON.parse(fromRoot(`${folder}/${language}/diagnosticMessages.generated.json`));
  return Object.values(messages).join('\n');
}

const VISIBLE_ASCII = /[!-~]+/g;

/** Emoji that are shown as such without a selector. */
const EMOJI = Array.from({ length: 0x7ff }, (_, at) => String.fromCodePoint(0x1f300 + at)).filter(
  (character) => /\p{Emoji_Presentation}/u.test(character),
);
/** One sign of several characters. */
const FAMILY = '\u{1f468}\u200d\u{1f469}\u200d\u{1f467}\u200d\u{1f466}\u{1f44d}\u{1f3fd}';
const BASE64 = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';

/** Texts of each kind, by what they are called in the table. */
export function sampleTexts(random: Random): Record<string, string> {
  const repeat = (count: number, make: () => string) =>
    Array.from({ length: count }, make).join('');
  const among = (characters: string) => () => characters[random.below(characters.length)] ?? '';
  const emoji = () => EMOJI[random.below(EMOJI.length)] ?? '';
  const between = (from: number, to: number) => () =>
    String.fromCodePoint(from + random.below(to - from));
  return {
    English:
      fromRoot('LICENSE') + fromRoot('README.md') + fromRoot('node_modules/openai/README.md'),
    'English, in capitals': fromRoot('LICENSE').toUpperCase(),
    code: fromRoot('api/jobs/attempt.ts') + fromRoot('node_modules/express/lib/response.js'),
    JSON: fromRoot('programs/client/idl.json').slice(0, 24_000),
    digits: repeat(4_000, among('0123456789')),
    'tables of numbers': repeat(1_500, () => `${(random.below(1e6) / 1_000).toFixed(3)}, `),
    Chinese: translated('zh-cn').replaceAll(VISIBLE_ASCII, ''),
    'Chinese with code words': translated('zh-cn'),
    Japanese: translated('ja'),
    Korean: translated('ko'),
    Russian: translated('ru'),
    French: translated('fr'),
    German: translated('de'),
    Polish: translated('pl'),
    Turkish: translated('tr'),
    'random Arabic letters': repeat(3_000, between(0x627, 0x64b)),
    'random Hindi letters': repeat(3_000, between(0x905, 0x93a)),
    'random Thai letters': repeat(3_000, between(0xe01, 0xe3b)),
    emoji: repeat(2_000, emoji),
    'emoji between words': repeat(500, () => `${emoji()} nice `) + FAMILY.repeat(200),
    'random letters': repeat(8_000, among('abcdefghijklmnopqrstuvwxyz')),
    hexadecimal: repeat(8_000, among('0123456789abcdef')),
    base64: repeat(8_000, among(BASE64)),
    'random signs': repeat(4_000, between(0x21, 0x30)),
    'spaces and lines': repeat(500, () => `${' '.repeat(random.below(30))}\n`),
  };
}
