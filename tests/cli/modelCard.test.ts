import { createHash } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { canonicalJson, fetchModel } from '../../programs/client/index.ts';
import { runCli } from '../../testing/cli.ts';
import { addresses } from '../../testing/ledger/jobScene.ts';
import {
  LONG_BLOCKHASH_MS,
  openService,
  type Service,
  startLedger,
  type TestLedger,
} from '../../testing/ledger/ledger.ts';
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

  it('refuses a file that is not there', async () => {
    const { code, error } = await runCli(['model', 'card', join(folder, 'none.json')]);
    expect([code, error]).toEqual([1, expect.stringContaining('ENOENT')]);
  });
});

describe("the digests of a model's files", () => {
  const model = () => join(folder, 'model');

  beforeAll(() => {
    mkdirSync(model());
    writeFileSync(join(model(), 'model.safetensors'), 'weights');
    writeFileSync(join(model(), 'tokenizer.json'), 'tokens');
    writeFileSync(
      join(model(), 'tokenizer_config.json'),
      JSON.stringify({ chat_template: '{{ messages }}' }),
    );
  });

  it('fill in what the card lacks', async () => {
    const { weights_digest, tokenizer_digest, chat_template_digest, ...draft } = CARD;
    expect(await modelCard(draft, '--of', model())).toMatchObject({
      code: 0,
      output: `${canonicalJson(CARD)}\n`,
    });
  });

  it('are compared with those of the card', async () => {
    expect(await modelCard(CARD, '--of', model())).toMatchObject({ code: 0 });
    const other = { ...CARD, weights_digest: digest('others') };
    const { code, error } = await modelCard(other, '--of', model());
    expect([code, error]).toEqual([
      1,
      expect.stringContaining(
        `weights_digest is ${digest('others')}, and of these files ${digest('weights')}`,
      ),
    ]);
  });

  it('of a template in a file of its own are those of this file', async () => {
    writeFileSync(join(model(), 'chat_template.jinja'), '{{ others }}');
    const card = { ...CARD, chat_template_digest: digest('{{ others }}') };
    expect(await modelCard(card, '--of', model())).toMatchObject({ code: 0 });
  });

  it('of several files of weights are one over their names', async () => {
    writeFileSync(join(model(), 'more.safetensors'), 'more');
    const several = canonicalJson({
      'model.safetensors': digest('weights'),
      'more.safetensors': digest('more'),
    });
    const card = {
      ...CARD,
      chat_template_digest: digest('{{ others }}'),
      weights_digest: digest(several),
    };
    expect(await modelCard(card, '--of', model())).toMatchObject({ code: 0 });
  });

  it('of one file are those of the weights, which hold the rest', async () => {
    const file = join(folder, 'model.gguf');
    writeFileSync(file, 'weights');
    const card = { ...CARD, tokenizer_digest: null, chat_template_digest: null };
    expect(await modelCard(card, '--of', file)).toMatchObject({ code: 0 });
  });

  it('are refused for a folder without weights, and for none', async () => {
    const empty = join(folder, 'empty');
    mkdirSync(empty);
    expect((await modelCard(CARD, '--of', empty)).error).toContain('no *.safetensors or *.gguf');
    expect((await modelCard(CARD, '--of', join(folder, 'gone'))).error).toContain('ENOENT');
  });
});

describe('pinning a card', () => {
  let ledger: TestLedger;
  let service: Service;

  beforeAll(async () => {
    ledger = await startLedger({ blockhashMs: LONG_BLOCKHASH_MS });
    service = await openService(ledger);
  });
  afterAll(() => ledger?.close());

  it("keeps the model's terms, as the printed command has them", async () => {
    const { id } = service.model;
    const ofLedger = ['--model', id, '--rpc', ledger.rpcUrl];
    const { output, error } = await modelCard(CARD, ...ofLedger);
    const words = [...error.matchAll(/\b([a-z_0-9]+=\S+)/g)].map(([, word = '']) => word);
    const before = await fetchModel(ledger.connection, addresses.model(id));
    const key = JSON.stringify([...service.operator.authority.secretKey]);
    const sent = await runCli([
      ...['send', 'model_upsert', '--rpc', ledger.rpcUrl, '--signer', key],
      ...words,
    ]);
    expect(sent.code).toBe(0);
    const after = await fetchModel(ledger.connection, addresses.model(id));
    const cardHash = createHash('sha256').update(output.trimEnd()).digest();
    expect(after).toEqual({ ...before, sequence: 2n, cardHash: new Uint8Array(cardHash) });
  });

  it('needs the model and the node together, and a model that is there', async () => {
    expect((await modelCard(CARD, '--model', 'none')).error).toContain('go together');
    const none = await modelCard(CARD, '--model', 'none', '--rpc', ledger.rpcUrl);
    expect(none).toMatchObject({ code: 1, error: 'The ledger has no model none.\n' });
  });
});
