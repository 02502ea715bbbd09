import { mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createLogger } from '../../runtime/logger.ts';
import { createTokenCounts } from '../../runtime/tokenizers/tokenCounts.ts';
import { createRandom } from '../support/random.ts';
import { smallTokenizer } from './smallTokenizer.ts';

const logger = createLogger({ name: 'test', level: 'silent' });
const model = 'small';
const random = createRandom();
let folder: string;
let tokens: Awaited<ReturnType<typeof createTokenCounts>>;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'tokenizers-'));
  await writeFile(join(folder, 'small.json'), JSON.stringify(smallTokenizer));
  await symlink('small.json', join(folder, 'maker%2Fsmall.json'));
  await writeFile(join(folder, 'README.md'), 'not a tokenizer');
  tokens = await createTokenCounts({ folder, logger });
});

afterAll(async () => {
  await tokens.close();
  await rm(folder, { recursive: true });
});

const user = (content: string) => ({ role: 'user', content });
/** Takes longer to count than whatever comes after it. */
const long = 'q'.repeat(400_000);

describe('a prompt for a model whose tokenizer is given', () => {
  it.each([
    ['hello world', 2],
    ['hello, world', 3],
    ['zq', 2],
    ['é', 2],
    ['', 0],
  ])('holds the tokens of its texts: %j has %i', async (content, expected) => {
    expect(await tokens.prompt(model, [user(content)])).toBe(expected);
    expect(await tokens.prompt(model, [user(content), user('hello')])).toBe(expected + 1);
  });

  it('is taken for no more than the sparsest chat template makes of it', async () => {
    const answer = { role: 'assistant', content: '<think>zzzz</think>\n\nhello' };
    expect(await tokens.prompt(model, [user('  hello world\n'), answer])).toBe(3);
  });

  it('is counted for a model whose id has a slash', async () => {
    expect(await tokens.prompt('maker/small', [user('hello world')])).toBe(2);
  });
});

describe('an answer of a model whose tokenizer is given', () => {
  it('may have needed the tokens of its text and one that ended it', async () => {
    expect(await tokens.output(model, 'hello world')).toBe(3);
    expect(await tokens.output(model, ' hello')).toBe(3);
  });

  it('never needs more tokens than it has bytes', async () => {
    expect(await tokens.output(model, 'zq')).toBe(2);
    expect(await tokens.output(model, '')).toBe(0);
  });
});

describe(`random texts, seed ${random.seed}`, () => {
  const words = [
    ['hello', 1],
    [' world', 1],
    [' zqz', 4],
    [' \u{1f600}', 5],
  ] as const;

  it('are counted word by word, as prompt and as answer', async () => {
    for (let round = 0; round < 200; round += 1) {
      const chosen = Array.from({ length: 1 + random.below(30) }, () => {
        const word = words[1 + random.below(words.length - 1)];
        return word ?? words[1];
      });
      const all = [words[0], ...chosen];
      const text = all.map(([word]) => word).join('');
      const expected = all.reduce((sum, [, count]) => sum + count, 0);
      expect(await tokens.prompt(model, [user(text)])).toBe(expected);
      expect(await tokens.output(model, text)).toBe(
        Math.min(expected + 1, Buffer.byteLength(text)),
      );
    }
  });
});

describe('where a tokenizer cannot be had, or not in time', () => {
  it.each([
    ['a model without one', 'another', 'hello world'],
    ['a text of more than 512 KiB', model, ' hello'.repeat(90_000)],
  ])('bytes bound the count: %s', async (_case, modelId, text) => {
    const bytes = Buffer.byteLength(text);
    expect(await tokens.prompt(modelId, [user(text)])).toBe(Math.ceil(bytes / 8));
    expect(await tokens.output(modelId, text)).toBe(bytes);
  });

  it('bytes bound the count: no folder at all', async () => {
    const without = await createTokenCounts({ folder: undefined, logger });
    expect(await without.output(model, 'hello world')).toBe(11);
    await without.close();
  });

  it('bytes bound what comes when too many texts wait', async () => {
    const counting = [long, ...Array<string>(64).fill('hello')].map((text) =>
      tokens.prompt(model, [user(text)]),
    );
    expect(await tokens.prompt(model, [user('zzzzzzzz')])).toBe(1);
    expect(await tokens.output(model, 'hello world')).toBe(11);
    await Promise.all(counting);
    expect(await tokens.output(model, 'hello world')).toBe(3);
  });
});

describe('a long text that is being counted', () => {
  it('holds up nothing else in the process', async () => {
    let ticks = 0;
    const ticking = setInterval(() => {
      ticks += 1;
    }, 1);
    await tokens.prompt(model, [user(long)]);
    clearInterval(ticking);
    expect(ticks).toBeGreaterThan(5);
  });

  it('lets an answer overtake the prompts that wait', async () => {
    const finished: string[] = [];
    const noting = (name: string, count: Promise<number>) =>
      count.then(() => void finished.push(name));
    await Promise.all([
      noting('long prompt', tokens.prompt(model, [user(long)])),
      noting('prompt', tokens.prompt(model, [user('hello')])),
      noting('answer', tokens.output(model, 'hello')),
    ]);
    expect(finished).toEqual(['long prompt', 'answer', 'prompt']);
  });
});

describe('a folder of tokenizers that cannot be used', () => {
  it('is refused with the name of the file at fault', async () => {
    const broken = await mkdtemp(join(tmpdir(), 'tokenizers-'));
    await writeFile(join(broken, 'broken.json'), '{"model": {}}');
    const opening = createTokenCounts({ folder: broken, logger });
    await expect(opening).rejects.toMatchObject({
      name: 'ConfigError',
      message: expect.stringContaining('broken.json'),
    });
    await rm(broken, { recursive: true });
  });

  it('is refused when it does not exist', async () => {
    const opening = createTokenCounts({ folder: join(folder, 'missing'), logger });
    await expect(opening).rejects.toMatchObject({ name: 'ConfigError' });
  });
});
