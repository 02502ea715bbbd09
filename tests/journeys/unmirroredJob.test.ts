import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import http from 'node:http';
import { text as readText } from 'node:stream/consumers';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { jobClose } from '../../programs/client/instructions.ts';
import { submit } from '../../stack/operator.ts';
import { type RunningService, startRunningService } from '../../testing/service/runningService.ts';
import { until } from '../../testing/until.ts';

/** At 10 ms a word: time to look at the job while it runs. More would cost by the rate. */
const ANSWER_TOKENS = 500;
/** Does not come to its end while a test waits for the mirror. */
const LONG_ANSWER_TOKENS = 20_000;
const CHARGE_CREDITS = 8;
const SETTLED = 'settled';
const DISPUTED = 'disputed';
/** After T and the dispute window. */
const CLOSABLE_SECONDS = 200;
let service: RunningService;
let strangersKey: string;

beforeEach(async () => {
  service = await startRunningService({ workers: ['endless'], indexer: 'process' });
  strangersKey = (await service.addWallet(100n)).apiKey;
  service.indexer.signal('SIGSTOP');
});

afterEach(async () => {
  service.indexer.signal('SIGCONT');
  await service.close();
});

/** A stream that has begun. */
async function openStream(
  more: Record<string, string> = {},
  maxTokens = ANSWER_TOKENS,
): Promise<IncomingMessage> {
  const request = http.request(`${service.baseUrl}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${service.apiKey}`, ...more },
  });
  request.end(
    JSON.stringify({
      model: service.model.id,
      messages: [{ role: 'user', content: 'Say hello.' }],
      max_tokens: maxTokens,
      stream: true,
    }),
  );
  const [response] = (await once(request, 'response')) as [IncomingMessage];
  return response;
}

describe('with a stopped indexer, a job', () => {
  it('is read from the ledger as the mirror will show it, except the signatures of its end [jobs.unmirrored]', async () => {
    const stream = await openStream();
    const {
      'x-svc-job-id': id,
      'x-svc-tx-signature': escrowTx,
      'x-svc-worker': worker,
    } = stream.headers;
    const path = `/v1/jobs/${id}`;
    const running = await service.get(path);
    expect(running).toMatchObject({
      ...{ id, object: 'job', model: service.model.id, tier: service.model.tier },
      ...{ credits_charged: 0, completed_at: null, usage: null },
      on_chain: { escrow_tx: escrowTx, settlement_tx: null, proof_hash: null },
    });
    expect(['pending', 'processing']).toContain(running.status);

    await readText(stream);
    await until(async () => (await service.get(path)).status === 'settled');
    const settled = await service.get(path);
    expect(settled).toMatchObject({
      ...{ credits_charged: CHARGE_CREDITS, worker_address: worker },
      on_chain: { proof_hash: stream.trailers['x-svc-output-hash'] },
    });
    expect((await service.get('/v1/jobs')).data).toEqual([]);

    service.indexer.signal('SIGCONT');
    await service.untilMirrored();
    const mirrored = await service.get(path);
    const { slot } = mirrored.on_chain;
    expect(slot).toBeGreaterThan(settled.on_chain.slot);
    expect(mirrored).toEqual({
      ...settled,
      on_chain: { ...settled.on_chain, settlement_tx: expect.any(String), slot },
    });
  });

  it('is unknown to another wallet, as an id that was never locked is to all [jobs.unmirrored]', async () => {
    const stream = await openStream();
    const id = stream.headers['x-svc-job-id'] as string;
    const lookUp = async (jobId: string, apiKey: string) => {
      const { id: found, error } = await service.get(`/v1/jobs/${jobId}`, apiKey);
      return found ?? error.code;
    };
    expect(await lookUp(id, service.apiKey)).toBe(id);
    expect(await lookUp(id, strangersKey)).toBe('job_not_found');
    const unlocked = `${id.slice(0, -8)}${randomBytes(4).toString('hex')}`;
    expect(await lookUp(unlocked, service.apiKey)).toBe('job_not_found');
    expect(await lookUp('job_1', service.apiKey)).toBe('job_not_found');
    await readText(stream);
  });

  it('is not charged again when it was closed and its request is repeated', async () => {
    const key = { 'idempotency-key': 'said-once' };
    const first = await openStream(key);
    const text = await readText(first);
    await service.untilJobs(([found]) => found?.data.status === SETTLED);
    await service.advanceSeconds(CLOSABLE_SECONDS);
    await closeJob();

    const again = await openStream(key);
    expect(again.headers['x-svc-job-id']).toBe(first.headers['x-svc-job-id']);
    expect(contentOf(await readText(again))).toBe(contentOf(text));
    expect(await service.jobs()).toEqual([]);
    expect((await service.account()).availableCredits).toBe(
      service.boughtCredits - BigInt(CHARGE_CREDITS),
    );
  });
});

describe('with a stopped indexer, a job that the mirror shows as running', () => {
  it('is not reported as free of charge after it was closed', async () => {
    const { path } = await settleUnseen();
    await service.advanceSeconds(CLOSABLE_SECONDS);
    await closeJob();

    expect(await dispute(path)).toMatchObject({ error: { code: 'service_unavailable' } });
    service.indexer.signal('SIGCONT');
    await until(async () => (await service.get(path)).status === 'settled');
    expect(await dispute(path)).toMatchObject({ error: { code: 'dispute_window_expired' } });
  });

  it('can be disputed once the ledger has settled it', async () => {
    const { stream, path } = await settleUnseen();
    expect(['pending', 'processing']).toContain((await service.get(path)).status);

    expect(await dispute(path)).toMatchObject({
      dispute_opened: true,
      worker_hash: stream.trailers['x-svc-output-hash'],
    });
    expect((await service.jobs()).map(({ data }) => data.status)).toEqual([DISPUTED]);
  });
});

/** Lets the mirror see the lock of a job, and not its settlement. */
async function settleUnseen() {
  service.indexer.signal('SIGCONT');
  const stream = await openStream({}, LONG_ANSWER_TOKENS);
  const path = `/v1/jobs/${stream.headers['x-svc-job-id']}`;
  await until(async () => (await service.get('/v1/jobs')).data.length === 1);
  service.indexer.signal('SIGSTOP');
  service.workers[0]?.setMode('honest');
  await readText(stream);
  await service.untilJobs(([found]) => found?.data.status === SETTLED);
  return { stream, path };
}

async function dispute(path: string): Promise<unknown> {
  const response = await fetch(`${service.baseUrl}${path}/dispute`, {
    method: 'POST',
    headers: { authorization: `Bearer ${service.apiKey}` },
    body: JSON.stringify({ received_output_hash: `sha256:${'0'.repeat(64)}` }),
  });
  return response.json();
}

/** As anybody may, once its time is over. */
async function closeJob(): Promise<void> {
  const [found] = await service.jobs();
  if (!found) throw new Error('there is no job');
  const { rentPayer } = found.data;
  await submit(service.operator, [jobClose({ job: found.address, rentPayer })]);
}

/** The text of a stream, without what identifies its chunks. */
function contentOf(stream: string): string {
  return [...stream.matchAll(/"content":"([^"]*)"/g)].map(([, content]) => content).join('');
}
