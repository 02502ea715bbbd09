import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { modelUpsert } from '../../programs/client/instructions.ts';
import { formatJobId } from '../../programs/client/jobId.ts';
import { LAUNCH_CATALOG } from '../../stack/bootstrap.ts';
import { submit } from '../../stack/operator.ts';
import { type RunningService, startRunningService } from '../../testing/service/runningService.ts';
import { createScriptedEngine } from '../../testing/workers/engines.ts';

const engine = createScriptedEngine();
const LONG_ANSWER_WORDS = 700;

let service: RunningService;

beforeAll(async () => {
  service = await startRunningService({ workers: [engine] });
  // The API knows the prices until here, and none that follows.
  service.time.hold();
});

afterAll(async () => {
  service?.time.release();
  await service?.close();
});

type Price = { creditsPerRequest?: number; longCompletionThresholdTokens?: number };

/** What the ledger charges from now on. */
async function setPrice(price: Price): Promise<void> {
  const model = LAUNCH_CATALOG.find(({ id }) => id === service.model.id);
  if (!model) throw new Error('the service has another model');
  const authority = service.operator.authority.publicKey;
  await submit(service.operator, [modelUpsert({ ...model, ...price, authority })]);
}

async function ask(isStream: boolean) {
  const stream = isStream ? { stream: true, stream_options: { include_usage: true } } : {};
  const response = await fetch(`${service.baseUrl}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${service.apiKey}` },
    body: JSON.stringify({
      ...{ model: service.model.id, messages: [{ role: 'user', content: 'Count.' }] },
      ...stream,
    }),
  });
  const text = await response.text();
  return {
    jobId: response.headers.get('x-svc-job-id'),
    /** The numbers of this name, wherever the answer has them. */
    numbers: (name: string) =>
      [...text.matchAll(new RegExp(`"${name}":([\\d.]+)`, 'g'))].map(([, value]) => Number(value)),
  };
}

/** The job as the ledger has it, once it has ended. */
async function ended(jobId: string | null) {
  const isIt = ({ data }: { data: { jobId: Uint8Array } }) => formatJobId(data.jobId) === jobId;
  const jobs = await service.untilJobs((found) =>
    found.some((job) => isIt(job) && ['settled', 'failed'].includes(job.data.status)),
  );
  const job = jobs.find(isIt);
  if (!job) throw new Error('the job is gone');
  return job.data;
}

describe.each([
  ['a plain answer', false],
  ['a stream', true],
])('%s at a price that changed unseen, and raises no lock', (_form, isStream) => {
  it.each([
    ['the tokens of a fixed price', { longCompletionThresholdTokens: 2_000 }, 8],
    ['a lower price of a request', { creditsPerRequest: 1 }, 1],
  ])('shows and is charged %s', async (_what, price, credits) => {
    engine.play(async function* () {
      // Only above the threshold that the API knows does the number of words count.
      for (let words = 0; words < (credits > 1 ? LONG_ANSWER_WORDS : 1); words += 1) yield 'word ';
    });
    await setPrice(price);
    const { jobId, numbers } = await ask(isStream);
    const charged = { status: 'settled', chargedCredits: BigInt(credits) };
    expect(await ended(jobId)).toMatchObject(charged);
    expect(numbers('credits_charged')).toEqual([credits]);
    expect(numbers('usdc_value')).toEqual([credits / 100]);
    expect(numbers('cost')).toEqual([credits / 100]);
  });

  it('has that price returned when it failed', async () => {
    engine.play(async function* () {
      yield* [];
      throw new Error('out of memory');
    });
    await setPrice({ creditsPerRequest: 1, longCompletionThresholdTokens: 2_000 });
    const { jobId, numbers } = await ask(isStream);
    expect(await ended(jobId)).toMatchObject({ status: 'failed', lockedCredits: 1n });
    expect(numbers('credits_refunded')).toEqual([1]);
  });
});
