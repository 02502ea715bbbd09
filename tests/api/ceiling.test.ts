import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { modelUpsert, workerHost } from '../../programs/client/instructions.ts';
import { formatJobId } from '../../programs/client/jobId.ts';
import { addModel, type CatalogModel, LAUNCH_CATALOG } from '../../stack/bootstrap.ts';
import { submit } from '../../stack/operator.ts';
import { createRandom } from '../../testing/random.ts';
import { type RunningService, startRunningService } from '../../testing/service/runningService.ts';
import { until } from '../../testing/until.ts';
import { createScriptedEngine } from '../../testing/workers/engines.ts';
import {
  type Asked,
  drawRequest,
  isQuotedAgain,
  type Outcome,
  outcomesOf,
  type Price,
} from './ceilingRequests.ts';

/** `npm run test:long -- ceiling --requests 10000 --seed 7` sets it. */
const REQUESTS = Number(process.env.CEILING_REQUESTS ?? 1_000);
const AT_ONCE = 50;
/** A request takes some ten milliseconds; a busy machine a multiple of that. */
const RUN_MS_MAX = 60_000 + REQUESTS * 120;
const RICH_CREDITS = 100_000_000n;
const POOR_CREDITS = 1n;
/** Their locks reach 32,768 tokens at 20 credits per 1,000, below the most that one job may lock. */
const MODELS = LAUNCH_CATALOG.filter(({ contextWindowTokens: window }) => window === 32_768);

/** A request with what came of it: the answer, and the job that was found on the ledger. */
interface Sent {
  asked: Asked;
  expected: Outcome[];
  /** Whether the ledger refuses the lock at the price that was shown when it was sent. */
  isQuotedAgain: boolean;
  status: number;
  error: { code: string; param: string | null; details?: Record<string, unknown> } | undefined;
  jobId: string | null;
  /** What the ledger shows as locked for it. */
  lockedCredits: bigint | undefined;
}

const random = createRandom();
let service: RunningService;
let poor: { apiKey: string };
const sent: Sent[] = [];
/** Jobs of the ledger that no answer named. */
const unnamed: string[] = [];

beforeAll(async () => {
  service = await startRunningService({
    workers: [createScriptedEngine()],
    credits: RICH_CREDITS,
    apiSettings: { SVC_BURST_REQUESTS: '1000000' },
  });
  await hostModels();
  poor = await service.addWallet(POOR_CREDITS);
  await sendAll();
}, RUN_MS_MAX);

afterAll(async () => {
  service?.time.release();
  await service?.close();
});

/** Has the worker host every model, and holds the API's time: it reads no price unless it is moved. */
async function hostModels(): Promise<void> {
  const { operator } = service;
  const [worker] = service.workers;
  if (!worker) throw new Error('there is no worker');
  for (const model of MODELS.filter(({ id }) => id !== service.model.id)) {
    await addModel(operator, model);
    const host = workerHost({ authority: worker.authority.publicKey, modelId: model.id });
    await submit(operator, [host], [worker.authority]);
  }
  service.time.hold();
  await service.untilShown(async () => (await shownModels()).size === MODELS.length);
}

type Rates = { credits_per_request: number | bigint; credits_per_1k_tokens: number | bigint };

const isOf = (price: Price, rates: Rates | undefined): boolean =>
  Number(rates?.credits_per_request) === price.creditsPerRequest &&
  Number(rates?.credits_per_1k_tokens) === price.creditsPer1kTokens;

/** The rates of each model that has a worker, by its id. */
async function shownModels(): Promise<Map<string, Rates>> {
  const { data } = await service.get('/v1/models');
  return new Map(data.map(({ id, svc }: { id: string; svc: Rates }) => [id, svc]));
}

/** In batches: with the prices as they are shown, then after a rise and a fall that are not yet. */
async function sendAll(): Promise<void> {
  const prices = new Map<string, Price>(MODELS.map((model) => [model.id, model]));
  const seen = new Set<string>();
  for (let batch = 0; sent.length < REQUESTS; batch += 1) {
    const shown = new Map(prices);
    const models = [...MODELS];
    const [changing] = models.splice(random.below(models.length), 1) as [CatalogModel];
    if (batch % 3 !== 0) {
      prices.set(changing.id, await changePrice(changing, prices, batch % 3 === 1));
    }
    const about = new Map([changing, ...models].map(({ id }) => [id, prices.get(id) as Price]));
    const count = Math.min(AT_ONCE, REQUESTS - sent.length);
    const asked = Array.from({ length: count }, () => drawRequest(random, about));
    const answers = await Promise.all(asked.map((one) => send(one, shown, prices)));
    await findLocks(answers, seen);
    sent.push(...answers);
    await untilShown(prices);
  }
}

/** Changes a model's price on the ledger and in the mirror. A rise is one of every short request. */
async function changePrice(
  model: CatalogModel,
  prices: ReadonlyMap<string, Price>,
  isRise: boolean,
): Promise<Price> {
  const before = prices.get(model.id) as Price;
  const [perRequest, perThousand] = isRise ? [11, 6] : [2, 1];
  const price = {
    ...before,
    creditsPerRequest: perRequest + random.below(9) + (isRise ? before.creditsPerRequest : 0),
    creditsPer1kTokens: perThousand + random.below(5),
  };
  const { authority } = service.operator;
  const upsert = modelUpsert({ ...model, ...price, authority: authority.publicKey });
  await submit(service.operator, [upsert]);
  await until(async () => {
    const { rows } = await service.pool.query<Rates>(
      'select credits_per_request, credits_per_1k_tokens from mirror.models where id = $1',
      [model.id],
    );
    return isOf(price, rows[0]);
  });
  return price;
}

async function untilShown(prices: ReadonlyMap<string, Price>): Promise<void> {
  await service.untilShown(async () => {
    const shown = await shownModels();
    return [...prices].every(([id, price]) => isOf(price, shown.get(id)));
  });
}

async function send(
  asked: Asked,
  shown: ReadonlyMap<string, Price>,
  prices: ReadonlyMap<string, Price>,
): Promise<Sent> {
  const { modelId, isPoor, isStream, content, maxTokens, headers, body } = asked;
  const response = await fetch(`${service.baseUrl}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${(isPoor ? poor : service).apiKey}`, ...headers },
    body: JSON.stringify({
      model: modelId,
      messages: [{ role: 'user', content }],
      stream: isStream,
      max_tokens: maxTokens,
      ...body,
    }),
  });
  const text = await response.text();
  const of = (all: ReadonlyMap<string, Price>) => all.get(modelId) as Price;
  const both = { shown: of(shown), onLedger: of(prices) };
  return {
    asked,
    expected: outcomesOf(asked, both),
    isQuotedAgain: isQuotedAgain(asked, both),
    status: response.status,
    error: response.ok ? undefined : JSON.parse(text).error,
    jobId: response.headers.get('x-svc-job-id'),
    lockedCredits: undefined,
  };
}

/** Notes what the ledger locked for each answer since the last time. */
async function findLocks(answers: readonly Sent[], seen: Set<string>): Promise<void> {
  const byJob = new Map(answers.map((answer) => [answer.jobId, answer]));
  for (const { data } of await service.jobs()) {
    const id = formatJobId(data.jobId);
    if (seen.has(id)) continue;
    seen.add(id);
    const answer = byJob.get(id);
    if (answer) answer.lockedCredits = data.lockedCredits;
    else unnamed.push(id);
  }
}

function outcomeOf({ status, error, lockedCredits }: Sent): Outcome {
  const required = error?.details?.credits_required;
  if (status === 200) return `locked ${lockedCredits ?? -1n}`;
  if (status === 400) return `refused ${error?.code}`;
  if (error?.code === 'price_above_limit') return `above its ceiling ${BigInt(Number(required))}`;
  if (error?.code === 'insufficient_credits') return `unpaid ${BigInt(Number(required))}`;
  return `refused ${status} ${error?.code}`;
}

/** The first few, as what a reader needs to see the fault. */
const shown = (some: readonly Sent[]) =>
  some.slice(0, 5).map((one) => ({ ...one, outcome: outcomeOf(one) }));

describe(`${REQUESTS} requests with ceilings about their price (seed ${random.seed})`, () => {
  it('lock no more than their ceilings, on the ledger', () => {
    const above = sent.filter(
      ({ asked: { ceiling }, lockedCredits }) =>
        ceiling !== undefined && lockedCredits !== undefined && lockedCredits > BigInt(ceiling),
    );
    expect(shown(above)).toEqual([]);
  });

  it('are locked at their price, or refused with exactly what they would lock', () => {
    expect(shown(sent.filter((one) => !one.expected.includes(outcomeOf(one))))).toEqual([]);
  });

  it('lock nothing where they are refused', () => {
    const refused = sent.filter(({ status }) => status !== 200);
    expect(shown(refused.filter((one) => one.jobId !== null || one.lockedCredits))).toEqual([]);
    expect(unnamed).toEqual([]);
  });

  it('are refused by their ceiling with 422, the two numbers and the field', () => {
    const refused = sent.filter(({ status }) => status === 422);
    for (const { asked, error } of refused) {
      expect(error).toMatchObject({
        code: 'price_above_limit',
        type: 'unprocessable_error',
        param: 'max_credits',
        details: {
          max_credits: asked.ceiling,
          credits_required: expect.any(Number),
          affordable_max_tokens: expect.any(Number),
        },
      });
    }
  });

  it('reach every refusal in its order, and a price that rose after its quote', () => {
    const wanted = {
      malformed: ({ asked, status }: Sent) => status === 400 && asked.ceiling !== undefined,
      above: ({ status }: Sent) => status === 422,
      'above, of a wallet without credits': (one: Sent) => one.status === 422 && one.asked.isPoor,
      unpaid: ({ status, asked }: Sent) => status === 402 && asked.ceiling !== undefined,
      'exactly at the price': ({ asked, lockedCredits }: Sent) =>
        lockedCredits === BigInt(asked.ceiling ?? 0),
      'quoted again': (one: Sent) => one.isQuotedAgain && one.lockedCredits !== undefined,
      'above once quoted again': (one: Sent) => one.isQuotedAgain && one.status === 422,
    };
    const counts = Object.entries(wanted).map(([name, is]) => [name, sent.filter(is).length]);
    expect(counts.filter(([, count]) => count === 0)).toEqual([]);
  });

  it('conserve every credit', async () => {
    await service.untilAccount(({ lockedCredits }) => lockedCredits === 0n);
    await service.expectConserved();
  });
});
