import { createHash } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { canonicalJson } from '../../programs/client/index.ts';
import { runCli } from '../../testing/cli.ts';
import { ownFolder } from '../../testing/ownFolder.ts';

const digest = (text: string) => `sha256:${createHash('sha256').update(text).digest('hex')}`;

const CARD = {
  source: 'https://models.example/8b',
  revision: '1f2e3d',
  weights_digest: digest('weights'),
  quantization: 'none',
  tokenizer_digest: digest('tokens'),
  chat_template_digest: digest('{{ messages }}'),
  default_sampling: { top_p: 0.95, temperature: 0.7 },
  licence: 'Apache-2.0',
};

const folder = ownFolder('model-card');
/** Runs `svc model card` on a card, or on a text that is none. */
function modelCard(card: object | string, ...more: string[]) {
  const file = join(folder, 'card.json');
  writeFileSync(file, typeof card === 'string' ? card : JSON.stringify(card));
  return runCli(['model', 'card', file, ...more]);
}

describe('svc model card', () => {
  it('prints the canonical form alone, and its hash with the command to pin it', async () => {
    const { code, output, error } = await modelCard(CARD);
    expect([code, output]).toEqual([0, `${canonicalJson(CARD)}\n`]);
    const hash = createHash('sha256').update(output.trimEnd()).digest('hex');
    expect(error).toContain(`card_hash ${hash}`);
    expect(error).toContain('npx --no svc send model_upsert');
    expect(error).toContain(`card_hash=${hash}`);
  });

  it.each([
    ['a field that is missing', { ...CARD, licence: undefined }, 'licence: '],
    ['a field that it does not know', { ...CARD, license: 'MIT' }, 'license'],
    ['a digest in another form', { ...CARD, weights_digest: 'abc' }, 'weights_digest: '],
    ['a sampling value that is a text', { ...CARD, default_sampling: { top_k: '1' } }, 'top_k: '],
    ['half of a character', { ...CARD, source: '\ud800' }, 'half of a character'],
    ['a text that is no JSON', '{', 'JSON'],
    ['a list', [CARD], 'source: '],
  ])('refuses %s', async (_what, card, reason) => {
    const { code, output, error } = await modelCard(card);
    expect([code, output, error]).toEqual([1, '', expect.stringContaining(reason)]);
  });
});

describe("the digests of a model's files", () => {
  const path = (...names: string[]) => join(folder, 'models', ...names);
  const write = (name: string, files: Record<string, string>) => {
    mkdirSync(path(name), { recursive: true });
    for (const [file, text] of Object.entries(files)) writeFileSync(path(name, file), text);
    return path(name);
  };
  const FILES = {
    'model.safetensors': 'weights',
    'tokenizer.json': 'tokens',
    'tokenizer_config.json': JSON.stringify({ chat_template: '{{ messages }}' }),
  };

  it('fill in what the card lacks', async () => {
    const { weights_digest, tokenizer_digest, chat_template_digest, ...draft } = CARD;
    expect(await modelCard(draft, '--of', write('whole', FILES))).toMatchObject({
      code: 0,
      output: `${canonicalJson(CARD)}\n`,
    });
  });

  it('are those of a template, of several files of weights, and of one alone', async () => {
    const several = { 'model.safetensors': digest('weights'), 'more.gguf': digest('more') };
    const others = write('several', {
      ...FILES,
      'chat_template.jinja': '{{ others }}',
      'more.gguf': 'more',
    });
    const changed = {
      chat_template_digest: digest('{{ others }}'),
      weights_digest: digest(canonicalJson(several)),
    };
    expect(await modelCard({ ...CARD, ...changed }, '--of', others)).toMatchObject({ code: 0 });
    // It holds the rest.
    const alone = { ...CARD, tokenizer_digest: null, chat_template_digest: null };
    const file = join(others, 'model.safetensors');
    expect(await modelCard(alone, '--of', file)).toMatchObject({ code: 0 });
  });

  it.each([
    ['of other weights', FILES, `weights_digest is ${digest('others')}, and of these files`],
    ['in a folder without weights', {}, 'no *.safetensors or *.gguf'],
    ['in a folder that is not there', undefined, 'ENOENT'],
  ])('are refused %s', async (what, files, reason) => {
    const of = files ? write(what, files) : path(what);
    const card = { ...CARD, weights_digest: digest('others') };
    const { code, error } = await modelCard(card, '--of', of);
    expect([code, error]).toEqual([1, expect.stringContaining(reason)]);
  });
});
