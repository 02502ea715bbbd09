import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { ModelList } from '../../api/contracts/model.ts';
import type { Catalog } from '../../api/jobs/catalog.ts';
import type { ModelRow } from '../../api/sql/workers.ts';
import type { WorkerDirectory } from '../../api/workers/directory.ts';
import type { ModelCard } from '../../common/contracts/modelCard.ts';
import { modelCardHash } from '../../programs/client/modelCard.ts';
import { bytesToHex } from '../../programs/client/platform/bytes.ts';
import { type KeyedDatabase, openKeyedDatabase } from './keyedDatabase.ts';
import { type ServedApp, serveApp } from './serveApp.ts';

const NOW_SECONDS = 1_800_000_000n;

const CARD: ModelCard = {
  ...{ source: 'https://models.example/8b', revision: '1', weights_digest: null },
  ...{ quantization: 'none', tokenizer_digest: null, chat_template_digest: null },
  ...{ default_sampling: { temperature: 0.7 }, licence: 'MIT' },
};
const CARD_HASH = bytesToHex(modelCardHash(CARD));
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

let database: KeyedDatabase;
let app: ServedApp;

beforeAll(async () => {
  database = await openKeyedDatabase();
  const catalog: Partial<Catalog> = {
    list: () => models,
    find: (id) => models.find((one) => one.id === id),
    medianLatencies: async () => new Map(),
  };
  const directory: Partial<WorkerDirectory> = {
    active: (address) => (address === 'hosted-by-none' ? [] : [{}]) as never,
    startProbeMs: ({ id }) => (id === 'for-good' ? 12 : undefined),
  };
  app = await serveApp({
    database: database.pool,
    nowSeconds: () => NOW_SECONDS,
    catalog: catalog as Catalog,
    directory: directory as WorkerDirectory,
    cards: new Map([[CARD_HASH, CARD]]),
  });
});

afterAll(async () => {
  await app.close();
  await database.close();
});

async function get<Body>(path: string): Promise<Body> {
  const headers = { authorization: `Bearer ${database.apiKey}` };
  return (await (await fetch(app.url + path, { headers })).json()) as Body;
}

describe('GET /v1/models', () => {
  it('lists a hosted model until it retires', async () => {
    const { data } = await get<ModelList>('/v1/models');
    expect(data.map(({ id }) => id)).toEqual(['for-good', 'retires-soon']);
  });

  it("names the parameters, and the workers' start probe before any answer", async () => {
    expect(await get('/v1/models/for-good')).toMatchObject({
      svc: {
        median_latency_ms: 12,
        supported_parameters: expect.arrayContaining(['response_format', 'top_k', 'stop']),
      },
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
