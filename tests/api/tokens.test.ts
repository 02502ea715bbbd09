import { mkdir, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import {
  afterAll,
  afterEach,
  beforeAll,
  beforeEach,
  describe,
  expect,
  it,
  jest,
} from '@jest/globals';
import { createLogger } from '../../common/logger.ts';
import { createTokenCounts } from '../../common/tokenizers/tokenCounts.ts';
import { ownFolder } from '../../testing/ownFolder.ts';
import { createRandom } from '../../testing/random.ts';
import { smallTokenizer } from './smallTokenizer.ts';

const logger = createLogger({ name: 'test', level: 'silent' });
const model = 'small';
/** A model of which a word of 21 bytes is one token. */
const denseModel = 'dense';
const denseWord = ' internationalization';
const random = createRandom();
const folder = ownFolder('tokenizers');
let tokens: Awaited<ReturnType<typeof createTokenCounts>>;

beforeAll(async () => {
  await writeFile(join(folder, 'small.json'), JSON.stringify(smallTokenizer));
  await writeFile(join(folder, `${denseModel}.json`), JSON.stringify(denseTokenizer()));
  await symlink('small.json', join(folder, 'maker%2Fsmall.json'));
  await writeFile(join(folder, 'README.md'), 'not a tokenizer');
  tokens = await createTokenCounts({ folder, logger });
});

afterAll(async () => {
  await tokens.close();
});

function denseTokenizer() {
  const written = denseWord.replace(' ', 'Ġ');
  const merges = [...written.slice(1)].map((letter, at) => [written.slice(0, at + 1), letter]);
  const base = smallTokenizer.model;
  const size = Object.keys(base.vocab).length;
  const words = merges.map((pair, at) => [pair.join(''), size + at]);
  const vocab = { ...base.vocab, ...Object.fromEntries(words) };
  return { ...smallTokenizer, model: { ...base, vocab, merges } };
}

// What a slow machine needs for a long text must not pass the time that a count may take.
beforeEach(() => {
  jest.useFakeTimers({
    doNotFake: [
      ...(['Date', 'nextTick', 'performance', 'queueMicrotask'] as const),
      ...(['setImmediate', 'setInterval', 'clearInterval'] as const),
    ],
  });
});

afterEach(() => void jest.useRealTimers());

const user = (content: string) => ({ role: 'user', content });
/** Takes longer to count than all that comes after it. */
const long = 'q'.repeat(250_000);
const PROMPTS_WAITING_MAX = 64;
const ANSWERS_WAITING_MAX = 512;

describe('a prompt for a model with a tokenizer', () => {
  it.each([
    ['hello world', 2],
    ['hello, world', 3],
    ['zq', 2],
    ['é', 2],
    ['', 0],
  ])('has the tokens of its texts: %j has %i', async (content, expected) => {
    expect(await tokens.prompt(model, [user(content)])).toBe(expected);
    expect(await tokens.prompt(model, [user(content), user('hello')])).toBe(expected + 1);
    // As those of other models are, whose ids have a slash.
    expect(await tokens.prompt('maker/small', [user(content)])).toBe(expected);
  });

  it('has at most the tokens that the shortest chat template makes of it', async () => {
    const answer = { role: 'assistant', content: '<think>zzzz</think>\n\nhello' };
    expect(await tokens.prompt(model, [user('  hello world\n'), answer])).toBe(3);
  });
});

describe('a prompt of more than 256 KiB', () => {
  it('has at least the tokens of its first 256 KiB', async () => {
    // 43,690 times two tokens, and three of the word that is cut.
    const beginning = 87_383;
    const long = ' hello'.repeat(60_000);
    expect(await tokens.prompt(model, [user(`.${long}`)])).toBe(beginning);
    const parts = [user('.'), user(`hello${long.slice(0, 120_000)}`), user(`hello${long}`)];
    expect(await tokens.prompt(model, parts)).toBeGreaterThan(beginning - 5);
  });

  it('is never counted above its real tokens, however long each token is', async () => {
    const counted = await tokens.prompt(denseModel, [user(`.${denseWord.repeat(15_000)}`)]);
    expect(counted).toBeGreaterThan(12_000);
    expect(counted).toBeLessThanOrEqual(15_001);
  });

  it('may be cut within a character', async () => {
    // One byte and 65,535 characters of four; three bytes are left.
    const text = `.${'\u{1f600}'.repeat(80_000)}`;
    expect(await tokens.prompt(model, [user(text)])).toBe(262_141);
  });
});

describe('an answer of a model with a tokenizer', () => {
  it.each([
    // Its text, and one that ended it.
    ['hello world', 3],
    [' hello', 3],
    // Never more than it has bytes.
    ['zq', 2],
    ['', 0],
  ])('may have used the tokens of its text: %j has %i', async (text, expected) => {
    expect(await tokens.output(model, text)).toBe(expected);
  });
});

describe(`random texts (seed ${random.seed})`, () => {
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

describe('a calibrated bound replaces', () => {
  it('the count of a model without a tokenizer, and of a very long answer', async () => {
    expect(await tokens.prompt('another', [user('hello world')])).toBe(2);
    expect(await tokens.output('another', 'hello world')).toBe(6);
    expect(await tokens.output(model, ' hello'.repeat(90_000))).toBe(141_302);
  });

  const prompt = (text: string) => tokens.prompt(model, [user(text)]);
  const output = (text: string) => tokens.output(model, text);
  it.each([
    ['prompts', 'zzzzzzzz', PROMPTS_WAITING_MAX, prompt, [1, 8], output, 8],
    ['answers', 'hello world', ANSWERS_WAITING_MAX, output, [6, 3], prompt, 2],
  ] as const)(
    'the newest count when too many %s wait, which delay no others',
    async (_what, text, waitingMax, count, [bound, counted], other, othersCount) => {
      const counting = [long, ...Array<string>(waitingMax).fill('hello')].map(count);
      const beside = other(text);
      expect(await count(text)).toBe(bound);
      expect(await beside).toBe(othersCount);
      await Promise.all(counting);
      expect(await count(text)).toBe(counted);
    },
  );
});

describe('a tokenizer thread that died', () => {
  it('leaves its own and all later counts to the calibrated bounds', async () => {
    const lost = await createTokenCounts({ folder, logger });
    const post = jest.spyOn(Worker.prototype, 'postMessage');
    const counting = [
      lost.prompt(model, [user(long)]),
      lost.prompt(model, [user('zzzzzzzz')]),
      lost.output(model, 'hello world'),
    ];
    (post.mock.contexts[0] as Worker).emit('error', new Error('out of memory'));
    post.mockRestore();
    expect(await Promise.all(counting)).toEqual([long.length / 8, 1, 6]);
    expect(await lost.output(model, 'hello world')).toBe(6);
    await lost.close();
  });
});

describe('counting a long text', () => {
  it('blocks nothing else in the process', async () => {
    let ticks = 0;
    const ticking = setInterval(() => {
      ticks += 1;
    }, 1);
    await tokens.prompt(model, [user(long)]);
    clearInterval(ticking);
    expect(ticks).toBeGreaterThan(5);
  });

  it('lets answers overtake waiting prompts, each in its order', async () => {
    const finished: string[] = [];
    const noting = (name: string, count: Promise<number>) =>
      count.then(() => void finished.push(name));
    await Promise.all([
      noting('long prompt', tokens.prompt(model, [user(long)])),
      noting('prompt', tokens.prompt(model, [user('hello')])),
      noting('answer', tokens.output(model, 'hello')),
      noting('next answer', tokens.output(model, 'hello')),
    ]);
    expect(finished).toEqual(['long prompt', 'answer', 'next answer', 'prompt']);
  });
});

describe('a folder of tokenizers', () => {
  it('may be left out', async () => {
    const without = await createTokenCounts({ folder: undefined, logger });
    expect(await without.output(model, 'hello world')).toBe(6);
    await without.close();
  });

  it.each([
    ['has a faulty file, by its name', 'faulty', /broken\.json/],
    ['does not exist', 'missing', /missing/],
  ])('is refused when it %s', async (_what, name, message) => {
    await mkdir(join(folder, 'faulty'), { recursive: true });
    await writeFile(join(folder, 'faulty', 'broken.json'), '{"model": {}}');
    const opening = createTokenCounts({ folder: join(folder, name), logger });
    await expect(opening).rejects.toMatchObject({
      ...{ name: 'ConfigError', message: expect.stringMatching(message) },
    });
  });
});
