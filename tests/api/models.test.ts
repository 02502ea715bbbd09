import { mkdtempSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Writable } from 'node:stream';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import type { ModelList } from '../../api/contracts/network.ts';
import type { Catalog } from '../../api/jobs/catalog.ts';
import { readModelCards } from '../../api/models/cards.ts';
import type { ModelRow } from '../../api/sql/workers.ts';
import type { WorkerDirectory } from '../../api/workers/directory.ts';
import { ConfigError } from '../../common/config.ts';
import type { ModelCard } from '../../common/contracts/modelCard.ts';
import { createLogger } from '../../common/logger.ts';
import { bytesToHex } from '../../programs/client/platform/bytes.ts';
import { modelCardHash } from '../../programs/client/proof.ts';
import { ownFolder } from '../../testing/ownFolder.ts';
import { openServedDatabase, type ServedDatabase } from './servedDatabase.ts';

const NOW_SECONDS = 1_800_000_000n;

const card = (revision: string): ModelCard => ({
  ...{ source: 'https://models.example/8b', revision, weights_digest: null },
  ...{ quantization: 'none', tokenizer_digest: null, chat_template_digest: null },
  ...{ default_sampling: { temperature: 0.7 }, licence: 'MIT' },
});
const hashOf = (revision: string) => bytesToHex(modelCardHash(card(revision)));
const CARD = card('1');
const CARD_HASH = hashOf('1');
const OTHER_HASH = 'ab'.repeat(32);

const model = (id: string, retiresAt: bigint | null, cardHash: string | null = null): ModelRow => ({
  ...{ address: id, id, tier: 'standard', label: '8B', originator: 'Originator' },
  context_window_tokens: 32_768,
  credits_per_request: 8,
  credits_per_1k_tokens: 4,
  long_completion_threshold_tokens: 500,
  created_at: 0n,
  retires_at: retiresAt,
  card_hash: cardHash,
});
const models = [
  model('for-good', null, CARD_HASH),
  model('retires-soon', NOW_SECONDS + 1n, OTHER_HASH),
  model('retired', NOW_SECONDS),
  model('hosted-by-none', null),
];

let scene: ServedDatabase;
const preview = { tools: true };

beforeAll(async () => {
  const catalog: Partial<Catalog> = {
    list: () => models,
    find: (id) => models.find((one) => one.id === id),
    medianLatencies: async () => new Map(),
  };
  const directory: Partial<WorkerDirectory> = {
    active: (address) => (address === 'hosted-by-none' ? [] : [{}]) as never,
    keepsFormat: ({ id }) => id === 'for-good',
    callsTools: ({ id }) => id === 'for-good',
    startProbeMs: ({ id }) => (id === 'for-good' ? 12 : undefined),
  };
  scene = await openServedDatabase(() => ({
    nowSeconds: () => NOW_SECONDS,
    catalog: catalog as Catalog,
    directory: directory as WorkerDirectory,
    cards: new Map([[CARD_HASH, CARD]]),
    preview,
  }));
});

afterAll(() => scene?.close());

const get = async <Body>(path: string) => (await scene.call<Body>(path)).body;

describe('GET /v1/models', () => {
  it('names response_format only where a worker keeps it', async () => {
    const { data } = await get<ModelList>('/v1/models');
    const keeping = data.filter(({ svc }) => svc.supported_parameters.includes('response_format'));
    expect(keeping.map(({ id }) => id)).toEqual(['for-good']);
  });

  it('names the fields of tools in their preview, where a worker calls one', async () => {
    const fields = ['tools', 'tool_choice', 'parallel_tool_calls'];
    const calling = async () => {
      const { data } = await get<ModelList>('/v1/models');
      const supported = data.map(({ id, svc }) => ({
        id,
        all: svc.supported_parameters as string[],
      }));
      return supported.filter(({ all }) => fields.every((field) => all.includes(field)));
    };
    expect((await calling()).map(({ id }) => id)).toEqual(['for-good']);
    preview.tools = false;
    expect(await calling()).toEqual([]);
    preview.tools = true;
  });

  it("names the parameters, and the workers' start probe before any answer", async () => {
    expect(await get('/v1/models/for-good')).toMatchObject({
      svc: {
        median_latency_ms: 12,
        supported_parameters: expect.arrayContaining(['response_format', 'top_k', 'stop']),
      },
    });
  });

  it('shows a latency of 0 for a model that no worker ever hosted', async () => {
    expect(await get('/v1/models/hosted-by-none')).toMatchObject({
      svc: { active_workers: 0, median_latency_ms: 0 },
    });
  });

  it('still shows by its id when a model retired, and lists it no more', async () => {
    const { data } = await get<ModelList>('/v1/models');
    expect(data.map(({ id }) => id)).toEqual(['for-good', 'retires-soon']);
    expect(await get('/v1/models/retired')).toMatchObject({
      ...{ id: 'retired', svc: { retires_at: '2027-01-15T08:00:00.000Z' } },
    });
  });

  it('shows the card that the ledger pins, and no other', async () => {
    const { data } = await get<ModelList>('/v1/models');
    expect(data.map(({ svc }) => [svc.card_hash, svc.card])).toEqual([
      [`sha256:${CARD_HASH}`, CARD],
      [`sha256:${OTHER_HASH}`, null],
    ]);
    expect(await get('/v1/models/retired')).toMatchObject({ svc: { card_hash: null, card: null } });
  });
});

const root = ownFolder('model-cards');

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(root, 'cards-'));
});

const write = (file: string, content: unknown) =>
  writeFileSync(
    join(folder, file),
    typeof content === 'string' ? content : JSON.stringify(content),
  );

/** The cards of the folder where a model pins each of these hashes, and what was logged. */
function read(...hashes: (string | null)[]) {
  const lines: string[] = [];
  const into = new Writable({
    write(chunk, _encoding, done) {
      lines.push(String(chunk));
      done();
    },
  });
  const logger = createLogger({ name: 'test', level: 'warn', into });
  const models = hashes.map((card_hash) => ({ card_hash }));
  return { cards: readModelCards({ folder, models, logger }), lines };
}

describe('the folder of model cards', () => {
  it('has each card by its hash, in any form of JSON', () => {
    write('one.json', JSON.stringify(card('1'), undefined, 4));
    write('two.json', card('2'));
    write('notes.txt', 'no card');
    const { cards, lines } = read(hashOf('1'), hashOf('2'));
    expect([...cards.keys()].sort()).toEqual([hashOf('1'), hashOf('2')].sort());
    expect(cards.get(hashOf('1'))).toEqual(card('1'));
    expect(lines).toEqual([]);
  });

  it('logs a card that no model pins, by file and hash', () => {
    write('one.json', card('1'));
    const { cards, lines } = read(null, hashOf('2'));
    expect(cards.size).toBe(1);
    expect(lines.map((line) => JSON.parse(line))).toMatchObject([
      { msg: 'No model pins this card', file: 'one.json', card_hash: hashOf('1') },
    ]);
  });

  it.each([
    ['what is no JSON', '{', 'it is no JSON'],
    ['a card with a field more', { ...card('1'), more: 1 }, 'more'],
    ['a card without canonical form', { ...card('1'), source: '\ud800' }, 'half of a character'],
  ])('refuses %s at the start, and names the file', (_what, content, reason) => {
    write('wrong.json', content);
    expect(() => read()).toThrow(ConfigError);
    expect(() => read()).toThrow(/wrong\.json is no card: /);
    expect(() => read()).toThrow(reason);
  });
});
