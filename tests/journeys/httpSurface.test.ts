import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Keypair, type PublicKey } from '@solana/web3.js';
import { createLogger } from '../../common/logger.ts';
import { modelRetire } from '../../programs/client/instructions.ts';
import { chargeCredits, lockCredits } from '../../programs/client/pricing.ts';
import { addModel, type CatalogModel, LAUNCH_CATALOG } from '../../stack/bootstrap.ts';
import { submit } from '../../stack/operator.ts';
import { registerWorker } from '../../stack/participants.ts';
import { type Receiver, startReceiver } from '../../testing/indexer/receiver.ts';
import { readClockSeconds } from '../../testing/ledger/ledger.ts';
import { readBooks } from '../../testing/ledger/walletBooks.ts';
import {
  type Form,
  ROUTED_FORMS,
  ROUTES,
  type Route,
  requestCompletion,
} from '../../testing/service/requestCompletion.ts';
import { type RunningService, startRunningService } from '../../testing/service/runningService.ts';
import { until } from '../../testing/until.ts';
import { WEBHOOK_KINDS } from '../../webhooks/events.ts';

const messages = [{ role: 'user', content: 'Say hello.' }];

let service: RunningService;
/** Its only worker never answers. */
let unserved: CatalogModel;

beforeAll(async () => {
  service = await startRunningService();
  const { operator, mints } = service;
  unserved = LAUNCH_CATALOG.find(({ tier }) => tier === 'lite') as CatalogModel;
  await addModel(operator, unserved);
  await registerWorker(operator, {
    ...{ authority: Keypair.generate(), proofKey: Keypair.generate().publicKey, mints },
    ...{ endpoint: 'http://127.0.0.1:9', modelIds: [unserved.id], stakeTokens: 1_000n },
  });
  await service.untilShown(
    async () => !('error' in (await service.get(`/v1/models/${unserved.id}`))),
  );
});

afterAll(() => service?.close());

describe('a streamed answer', () => {
  it.each(ROUTES)(
    'ends with the settlement in trailers, and its job confirms it: %s [completions.stream] [completions.stream-headers] [completions.stream-trailers] [models.engine]',
    async (route) => {
      const { availableCredits } = await service.account();
      const response = await requestCompletion(service, { form: 'stream', route });
      expect(response.headers).toMatchObject({
        'content-type': 'text/event-stream; charset=utf-8',
        'cache-control': 'no-cache, no-transform',
        'x-accel-buffering': 'no',
        'x-svc-engine': 'builtin',
      });
      expect(response.body.endsWith('data: [DONE]\n\n')).toBe(true);
      const job = await service.get(`/v1/jobs/${response.headers['x-svc-job-id']}`);
      expect(job).toMatchObject({
        status: 'settled',
        on_chain: {
          escrow_tx: response.headers['x-svc-tx-signature'],
          settlement_tx: response.trailers['x-svc-settlement-tx'],
          proof_hash: response.trailers['x-svc-output-hash'],
        },
      });
      expect(response.trailers['x-svc-credits-remaining']).toBe(String(availableCredits - 8n));
      expect(response.trailers['x-svc-delivery-receipt']).toMatch(/^\w+\.[\w-]{86}$/);
    },
  );
});

describe('an invalid request', () => {
  it.each([
    ['GET', '/v1/chat/completions'],
    ['GET', '/v1/responses'],
    ['GET', '/v1/responses/resp_1'],
    ['POST', '/v1/models'],
    ['GET', '/v1/embeddings'],
    ['POST', '/v1/assistants'],
    ['DELETE', '/'],
  ])('gets route_not_found: %s %s [errors.routes]', async (method, path) => {
    const response = await fetch(`${service.baseUrl}${path}`, { method });
    expect(response.status).toBe(404);
    expect(await response.json()).toMatchObject({
      error: { code: 'route_not_found', type: 'not_found_error', param: null },
    });
  });

  it.each([
    ['broken JSON', '{"model": '],
    ['no object', '[1, 2]'],
    ['an empty body', ''],
    ['more than 2 MiB', JSON.stringify({ model: 'x', messages: 'x'.repeat(2 * 1_024 * 1_024) })],
  ])('gets invalid_request: %s [completions.body-limits]', async (_name, body) => {
    const headers = { authorization: `Bearer ${service.apiKey}` };
    for (const route of ROUTES) {
      const path = `${service.baseUrl}/v1/${route}`;
      const response = await fetch(path, { method: 'POST', headers, body });
      expect(response.status).toBe(400);
      expect(await response.json()).toMatchObject({
        error: { code: 'invalid_request', type: 'invalid_request_error' },
      });
    }
  });

  it('gets the usual error body even if it is not HTTP [errors.malformed-http]', async () => {
    const { hostname, port } = new URL(service.baseUrl);
    const socket = connect(Number(port), hostname);
    socket.end('GET / HTTP/9.9\r\nnonsense\r\n\r\n');
    let answer = '';
    for await (const chunk of socket) answer += chunk;
    expect(answer).toMatch(/^HTTP\/1\.1 400 Bad Request\r\n/);
    expect(JSON.parse(answer.slice(answer.indexOf('{')))).toMatchObject({
      error: { code: 'invalid_request' },
    });
  });
});

describe('the documentation of errors', () => {
  it('has an anchor for the code that an error links to [errors.documented]', async () => {
    const response = await fetch(`${service.baseUrl}/v1/models`);
    const { error } = (await response.json()) as { error: { docs: string } };
    const [page, anchor] = error.docs.split('#');
    const text = await fetch(page as string).then((found) => found.text());
    expect(text).toContain(`id="${anchor}"`);
  });
});

describe('a model with only silent workers', () => {
  it('exists, is not listed, and answers 503 before anything is locked [failures.nothing-locked] [models.hosted-only] [errors.no-workers]', async () => {
    const { address, apiKey } = await service.addWallet(100n);
    expect(await service.get(`/v1/models/${unserved.id}`)).toMatchObject({
      svc: { active_workers: 0 },
    });
    const { data } = await service.get('/v1/models');
    expect(data.map(({ id }: { id: string }) => id)).toEqual([service.model.id]);
    const body = { model: unserved.id };
    const asking = requestCompletion(service, { form: 'plain', apiKey, body });
    expect(await service.time.advanceUntil(asking)).toMatchObject({
      status: 503,
      error: {
        ...{ code: 'no_workers_available', type: 'capacity_error' },
        details: { model: unserved.id, retry_after: 60 },
      },
    });
    expect((await readBooks(service, address)).jobs).toEqual([]);
  });
});

describe.each(ROUTED_FORMS)('a refused %s answer of %s', (form, route) => {
  /** Less than the tier's price of a request. */
  const CREDITS = 7n;
  let wallet: { address: PublicKey; apiKey: string };
  beforeAll(async () => {
    wallet = await service.addWallet(CREDITS);
  });
  const tooLong = [{ role: 'user', content: 'x'.repeat(300_000) }];

  it.each([
    ['for a bad field', 400, 'invalid_request', () => ({ temperature: 3 })],
    ['for an unknown model', 400, 'model_not_found', () => ({ model: 'none' })],
    ['for its length', 400, 'context_length_exceeded', () => ({ messages: tooLong })],
    ['for its credits', 402, 'insufficient_credits', () => ({ messages })],
    ['for want of a worker', 503, 'no_workers_available', () => ({ model: unserved.id })],
  ])(
    'gets its error and locks nothing: %s [failures.nothing-locked]',
    async (_why, status, code, body) => {
      const { address, apiKey } = wallet;
      const asking = requestCompletion(service, { form, route, apiKey, body: body() });
      const answer = await service.time.advanceUntil(asking);
      expect(answer).toMatchObject({ status, error: { code } });
      expect(answer.headers['content-type']).toMatch('application/json');
      expect(answer.headers['x-svc-job-id']).toBeUndefined();
      expect(await readBooks(service, address)).toEqual({
        available: CREDITS,
        locked: 0n,
        jobs: [],
      });
    },
  );
});

describe('what is private', () => {
  const PROMPT = 'a private prompt';
  const lines: string[] = [];
  let receiver: Receiver;
  let baseUrl: string;

  beforeAll(async () => {
    receiver = await startReceiver();
    const into = { write: (line: string) => void lines.push(line) };
    const logger = createLogger({ name: 'api', level: 'trace', into });
    baseUrl = (await service.startInstance({}, logger)).url;
    await fetch(`${baseUrl}/v1/webhooks`, {
      method: 'POST',
      headers: { authorization: `Bearer ${service.apiKey}` },
      body: JSON.stringify({ url: receiver.url, events: WEBHOOK_KINDS }),
    });
  });

  afterAll(() => receiver?.close());

  const ask = (form: Form, route: Route) => {
    const body = { messages: [{ role: 'user', content: PROMPT }] };
    return requestCompletion({ ...service, baseUrl }, { form, route, body });
  };

  const answeredLines = () =>
    lines.filter((line) => line.includes('Answered a request')).map((line) => JSON.parse(line));

  it.each(ROUTED_FORMS)(
    'is not in the one line for a %s answer of %s, with its worker and times [surface.access-log]',
    async (form, route) => {
      const { headers } = await ask(form, route);
      const logged = () =>
        answeredLines().filter(({ job_id }) => job_id === headers['x-svc-job-id']);
      await until(() => logged().length > 0);
      expect(logged()).toEqual([
        expect.objectContaining({
          request_id: headers['x-request-id'],
          wallet: service.wallet.publicKey.toBase58(),
          model: service.model.id,
          worker: service.workers[0]?.address,
          method: 'POST',
          route: `/v1/${route}`,
          status: '200',
          code: 'none',
          lock_ms: expect.any(Number),
          worker_ms: expect.any(Number),
          duration_ms: expect.any(Number),
        }),
      ]);
      expect(lines.join('')).not.toContain(PROMPT);
      expect(lines.join('')).not.toContain(service.apiKey);
    },
  );

  /** Every row of every table, as text. */
  async function readTables(): Promise<string> {
    const { rows: tables } = await service.pool.query<{ name: string }>(
      `select format('%I.%I', schemaname, tablename) as name from pg_tables
       where schemaname not in ('pg_catalog', 'information_schema')`,
    );
    const texts = tables.map(async ({ name }) => {
      const { rows } = await service.pool.query(`select t::text as text from ${name} t`);
      return rows.map(({ text }) => text).join('\n');
    });
    return (await Promise.all(texts)).join('\n');
  }

  it('as the new salt of each job, is in no log, table, webhook or URL', async () => {
    const answers = await Promise.all(ROUTED_FORMS.map((each) => ask(...each)));
    const ids = answers.map(({ headers }) => String(headers['x-svc-job-id']));
    const { received } = receiver;
    const hasEvent = (id: string) =>
      received.some(({ body }) => body.includes('job.completed') && body.includes(id));
    await until(() => ids.every(hasEvent));

    const requests = service.workers.flatMap((worker) => worker.requests);
    const jobs = requests
      .filter(({ path }) => path === '/jobs')
      .map(({ body }) => JSON.parse(String(body())))
      .filter(({ job_id }) => ids.includes(job_id));
    const salts = new Set<string>(jobs.map(({ request_salt }) => request_salt));
    expect([...salts]).toEqual(answers.map(() => expect.stringMatching(/^[0-9a-f]{64}$/)));

    const urls = JSON.stringify(requests.map(({ path, headers }) => [path, headers]));
    const webhooks = JSON.stringify(received);
    const places = { logs: lines.join(), tables: await readTables(), webhooks, urls };
    for (const id of ids) expect(places.tables).toContain(id);
    for (const [place, text] of Object.entries(places)) {
      expect([place, text.length > 100]).toEqual([place, true]);
      for (const salt of [...salts].map((hex) => Buffer.from(hex, 'hex'))) {
        for (const encoding of ['hex', 'base64', 'base64url'] as const) {
          expect([place, text.includes(salt.toString(encoding))]).toEqual([place, false]);
        }
      }
    }
  });
});

const CREDITS = 1_000n;

type Wallet = Awaited<ReturnType<RunningService['addWallet']>>;

const say = (content: unknown, role = 'user') => ({ messages: [{ role, content }] });

/** @param body undefined leaves out what every request has */
const ask = (body: Record<string, unknown>, { apiKey }: Pick<Wallet, 'apiKey'> = service) =>
  requestCompletion(service, { form: 'plain', apiKey, body });

/** The text of an answer, its finish reason and its usage. */
async function answerTo(body: Record<string, unknown>, wallet?: Wallet) {
  const answer = await ask(body, wallet);
  expect(answer.status).toBe(200);
  const { choices, usage } = JSON.parse(answer.body);
  const [{ message, finish_reason }] = choices;
  return { text: message.content as string, finish_reason, usage, headers: answer.headers };
}

describe('a completion over HTTP', () => {
  /** Of the library that reads bodies. */
  const LIBRARY_WORDS = /zod|invalid input|expected|received|too (small|big)/i;
  let refused: Wallet;

  beforeAll(async () => {
    refused = await service.addWallet(CREDITS);
  });

  it.each([
    ['with a model and a message alone [completions.required-fields]', {}],
    ['from the system [completions.roles]', say('Say hello.', 'system')],
    ['from the assistant [completions.roles]', say('Hello.', 'assistant')],
    ['from the developer, read as the system [completions.roles]', say('Say hello.', 'developer')],
    ['with what is unsupported, turned off [completions.unsupported]', { tools: [], n: 1 }],
  ])('is answered %s', async (_what, body) => {
    const { text, headers } = await answerTo(body);
    expect(text).not.toBe('');
    expect(headers['x-svc-settlement-tx']).toEqual(expect.any(String));
  });

  const image = { type: 'image_url', image_url: { url: 'https://example.com/cat.png' } };
  it.each<[string, string, Record<string, unknown>]>([
    ['without a model [completions.required-fields]', 'model', { model: undefined }],
    ['without messages [completions.required-fields]', 'messages', { messages: undefined }],
    ['with no message [completions.required-fields]', 'messages', { messages: [] }],
    ['from an unknown role [completions.roles]', 'messages[0].role', say('x', 'tool')],
    ['with an image [completions.unsupported]', 'messages[0].content', say([image])],
    ['with tools [completions.unsupported]', 'tools', { tools: [{ type: 'function' }] }],
    ['with functions [completions.unsupported]', 'functions', { functions: [{ name: 'f' }] }],
    ['with several choices [completions.unsupported]', 'n', { n: 2 }],
    ['too cold [completions.field-ranges]', 'temperature', { temperature: -0.1 }],
    ['too hot [completions.field-ranges]', 'temperature', { temperature: 2.1 }],
    ['beyond a probability [completions.field-ranges]', 'top_p', { top_p: 1.1 }],
  ])('is refused, and locks nothing, %s', async (_what, param, body) => {
    const { status, error } = await ask(body, refused);
    expect([status, error]).toMatchObject([400, { code: 'invalid_request', param }]);
    expect(error?.message).not.toMatch(LIBRARY_WORDS);
    expect(await readBooks(service, refused.address)).toMatchObject({ locked: 0n, jobs: [] });
  });

  it.each([
    ['missing_api_key', {}],
    ['invalid_api_key', { authorization: `Bearer svc_live_${'x'.repeat(32)}` }],
  ])('names where keys are made for %s [keys.bearer]', async (code, headers) => {
    const response = await fetch(`${service.baseUrl}/v1/account`, { headers });
    const { error } = (await response.json()) as { error: { code: string; message: string } };
    expect([response.status, error.code]).toEqual([401, code]);
    expect(error.message).toContain("A wallet's owner can make its key in this service's web app.");
  });

  it('ends before its stop sequence, and has the same text for the same seed [completions.stop-and-seed]', async () => {
    const body = { ...say('Write 60 words.'), seed: 11 };
    const { text } = await answerTo(body);
    expect((await answerTo(body)).text).toBe(text);
    expect((await answerTo({ ...body, seed: 12 })).text).not.toBe(text);
    const stop = text.slice(40, 48);
    expect(await answerTo({ ...body, stop })).toMatchObject({
      ...{ text: text.slice(0, text.indexOf(stop)), finish_reason: 'stop' },
    });
  });

  it('above 500 tokens costs the rate of all tokens, and returns the rest [charging.threshold] [charging.lock-amount] [charging.never-above-lock]', async () => {
    const wallet = await service.addWallet(CREDITS);
    const { model } = service;
    const max_tokens = 4_000;
    const locked = lockCredits(model, max_tokens);
    const body = { ...say('Write 900 words.'), max_tokens };
    const poor = await service.addWallet(locked - 1n);
    expect(await ask(body, poor)).toMatchObject({
      ...{ status: 402, error: { details: { credits_required: Number(locked) } } },
    });
    const { usage, headers } = await answerTo(body, wallet);
    expect(usage.completion_tokens).toBeGreaterThan(500);
    const charged = chargeCredits(model, usage.completion_tokens, locked);
    expect(charged).toBeLessThan(locked);
    const job = await service.get(`/v1/jobs/${headers['x-svc-job-id']}`, wallet.apiKey);
    expect([job.credits_charged, job.usdc_value]).toEqual([Number(charged), Number(charged) / 100]);
    expect(headers['x-svc-credits-remaining']).toBe(String(CREDITS - charged));
    expect(await service.get('/v1/account', wallet.apiKey)).toMatchObject({
      ...{ credits_remaining: Number(CREDITS - charged), locked_now_credits: 0 },
    });
  });
});

describe('the list of jobs over HTTP', () => {
  const JOBS = 23;
  let wallet: Wallet;
  let newestFirst: string[];
  const list = (query: string) => service.get(`/v1/jobs${query}`, wallet.apiKey);
  const idsOf = ({ data }: { data: { id: string }[] }) => data.map(({ id }) => id);

  beforeAll(async () => {
    wallet = await service.addWallet(CREDITS);
    const ids: string[] = [];
    for (let job = 0; job < JOBS; job += 1) {
      ids.push(String((await answerTo({ max_tokens: 1 }, wallet)).headers['x-svc-job-id']));
    }
    await service.untilMirrored();
    newestFirst = ids.reverse();
  });

  it('has 20 a page, goes on before or after a job, and has filters [jobs.list]', async () => {
    const first = await list('');
    expect(first).toMatchObject({ object: 'list', has_more: true, next_cursor: newestFirst[19] });
    expect(idsOf(first)).toEqual(newestFirst.slice(0, 20));
    const last = await list(`?before=${first.next_cursor}`);
    expect(last).toMatchObject({ has_more: false, next_cursor: null });
    expect(idsOf(last)).toEqual(newestFirst.slice(20));
    expect(idsOf(await list(`?after=${newestFirst[3]}`))).toEqual(newestFirst.slice(0, 3));
    const filter = `status=settled&model=${service.model.id}&limit=100`;
    expect(idsOf(await list(`?${filter}`))).toEqual(newestFirst);
    expect(idsOf(await list('?status=refunded'))).toEqual([]);
    expect(idsOf(await list('?model=none'))).toEqual([]);
  });

  it.each([
    ['limit', '?limit=0'],
    ['limit', '?limit=101'],
    ['status', '?status=done'],
    ['before', '?before=job_x'],
    ['since', '?since=yesterday'],
  ])('names a parameter that it refuses: %s in %s [jobs.list-refusals]', async (param, query) => {
    expect((await list(query)).error).toMatchObject({ code: 'invalid_request', param });
  });
});

describe('a model with an announced end, over HTTP', () => {
  const NOTICE_SECONDS = 30n * 86_400n;

  it('shows it, works until then, and is unknown to completions from then on [models.retirement]', async () => {
    const { operator, ledger, model } = service;
    const retiresAt = (await readClockSeconds(ledger.connection)) + NOTICE_SECONDS + 60n;
    const authority = operator.authority.publicKey;
    await submit(operator, [modelRetire({ authority, modelId: model.id, retiresAt })]);
    const shown = () => service.get(`/v1/models/${model.id}`);
    await service.untilShown(async () => (await shown()).svc.retires_at !== null);
    expect(Date.parse((await shown()).svc.retires_at) / 1_000).toBe(Number(retiresAt));
    await answerTo({});
    await service.advanceSeconds(Number(NOTICE_SECONDS) + 61);
    expect((await service.get('/v1/models')).data).toEqual([]);
    expect(await ask({})).toMatchObject({ status: 400, error: { code: 'model_not_found' } });
  });
});
