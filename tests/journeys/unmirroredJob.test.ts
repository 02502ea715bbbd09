import { randomBytes } from 'node:crypto';
import { text as readText } from 'node:stream/consumers';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { jobClose } from '../../programs/client/instructions.ts';
import { submit } from '../../stack/operator.ts';
import { ofWallet, untilEnded } from '../../testing/ledger/walletBooks.ts';
import { type GatedService, startGatedService } from '../../testing/service/gatedService.ts';
import {
  type Answer,
  openCompletion,
  requestCompletion,
} from '../../testing/service/requestCompletion.ts';
import { until } from '../../testing/until.ts';
import { answerInTwoParts } from '../../testing/workers/engines.ts';

const CREDITS = 100n;
const CHARGE_CREDITS = 8;
const SETTLED = 'settled';
const DISPUTED = 'disputed';
/** After T and the dispute window. */
const CLOSABLE_SECONDS = 200;
let service: GatedService;
/** Of one test. */
let wallet: Awaited<ReturnType<GatedService['addWallet']>>;
let strangersKey: string;

beforeAll(async () => {
  service = await startGatedService({}, { indexer: 'process' });
  strangersKey = (await service.addWallet(CREDITS)).apiKey;
});

beforeEach(async () => {
  wallet = await service.addWallet(CREDITS);
  service.indexer.signal('SIGSTOP');
});

afterEach(() => service.indexer.signal('SIGCONT'));

afterAll(() => service?.close());

const read = (path: string) => service.get(path, wallet.apiKey);
const ownJobs = async () => ofWallet(await service.jobs(), wallet.address);

/** A stream that has begun. @returns it, and what lets its answer end */
async function openStream(headers: Record<string, string> = {}) {
  const end = answerInTwoParts(service.engine);
  const { apiKey } = wallet;
  return { stream: await openCompletion(service, { form: 'stream', apiKey, headers }), end };
}

/** Lets the answer end, which waits for the mirror no longer than it does. */
async function finish({ stream, end }: Awaited<ReturnType<typeof openStream>>): Promise<string> {
  end();
  const text = await service.time.advanceUntil(readText(stream));
  await untilEnded(service, wallet.address, 1);
  return text;
}

describe('with a stopped indexer, a plain answer', () => {
  const ask = async (headers: Record<string, string> = {}) => {
    const { apiKey } = wallet;
    const startMs = service.time.nowMs();
    const asking = requestCompletion(service, { form: 'plain', apiKey, headers });
    const answer = await service.time.advanceUntil(asking, 100);
    return { answer, tookMs: service.time.nowMs() - startMs };
  };
  const mirrorMs = ({ headers }: Answer): number =>
    Number(/mirror;dur=([\d.]+)/.exec(String(headers['server-timing']))?.[1]);
  const chargeHeaders = ({ headers }: Answer) => [
    headers['x-svc-credits-remaining'],
    headers['x-svc-settlement-tx'],
  ];

  it('has the ledger’s balance and settlement, without a wait for the mirror [completions.plain-headers]', async () => {
    service.engine.play(async function* () {
      yield 'Hello.';
    });
    const first = await ask({ 'idempotency-key': 'asked-once' });
    expect(chargeHeaders(first.answer)).toEqual(['92', expect.any(String)]);
    const { answer } = await ask();
    expect(chargeHeaders(answer)).toEqual(['84', expect.any(String)]);
    // The mirror is waited for once, and not to the end of its 10 s.
    expect(first.tookMs).toBeLessThan(10_000);
    expect(mirrorMs(answer)).toBeLessThan(mirrorMs(first.answer) / 2);
    const { availableCredits } = await service.account(wallet.address);
    expect(availableCredits).toBe(84n);

    const again = await ask({ 'idempotency-key': 'asked-once' });
    expect(again.answer.headers['x-svc-replayed']).toBe('true');
    expect(chargeHeaders(again.answer)).toEqual(chargeHeaders(first.answer));

    service.indexer.signal('SIGCONT');
    await service.untilMirrored();
    const job = await read(`/v1/jobs/${answer.headers['x-svc-job-id']}`);
    expect(job.on_chain.settlement_tx).toBe(answer.headers['x-svc-settlement-tx']);
  });

  it('is given to a counted repeat when it was lost, and charged once [idempotency.silent-retries]', async () => {
    service.engine.play(async function* () {
      yield 'Hello.';
    });
    service.time.hold();
    const { apiKey, address } = wallet;
    const left = new AbortController();
    const messages = [{ role: 'user', content: 'Say hello.' }];
    const post = (headers: Record<string, string> = {}, signal?: AbortSignal) =>
      fetch(`${service.baseUrl}/v1/chat/completions`, {
        method: 'POST',
        headers: { authorization: `Bearer ${apiKey}`, ...headers },
        body: JSON.stringify({ model: service.model.id, messages }),
        ...(signal && { signal }),
      });
    // It waits for the mirror, whose silence lasts as long as time is held.
    const asking = expect(post({}, left.signal)).rejects.toThrow();
    await untilEnded(service, address, 1);
    left.abort();
    await asking;
    await until(async () => {
      const { rowCount } = await service.pool.query(
        'select from service.idempotent_requests where wallet = $1 and lost_at is not null',
        [address.toBase58()],
      );
      return rowCount === 1;
    });
    service.time.release();
    const again = await post({ 'x-stainless-retry-count': '1' });
    expect([again.status, again.headers.get('x-svc-replayed')]).toEqual([200, 'true']);
    expect((await ownJobs()).length).toBe(1);
    expect((await service.account(address)).availableCredits).toBe(92n);
  });
});

describe('with a stopped indexer, a job', () => {
  it('is read from the ledger as mirrored, but without its end’s signatures [jobs.unmirrored]', async () => {
    const opened = await openStream();
    const { stream } = opened;
    const {
      'x-svc-job-id': id,
      'x-svc-tx-signature': escrowTx,
      'x-svc-worker': worker,
    } = stream.headers;
    const path = `/v1/jobs/${id}`;
    const running = await read(path);
    expect(running).toMatchObject({
      ...{ id, object: 'job', model: service.model.id, tier: service.model.tier },
      ...{ credits_charged: 0, completed_at: null, usage: null },
      on_chain: { escrow_tx: escrowTx, settlement_tx: null, proof_hash: null },
    });
    expect(['pending', 'processing']).toContain(running.status);

    await finish(opened);
    const settled = await read(path);
    expect(settled).toMatchObject({
      ...{ status: SETTLED, credits_charged: CHARGE_CREDITS, worker_address: worker },
      on_chain: { proof_hash: stream.trailers['x-svc-output-hash'] },
    });
    expect((await read('/v1/jobs')).data).toEqual([]);

    service.indexer.signal('SIGCONT');
    await service.untilMirrored();
    const mirrored = await read(path);
    const { slot } = mirrored.on_chain;
    expect(slot).toBeGreaterThan(settled.on_chain.slot);
    expect(mirrored).toEqual({
      ...settled,
      on_chain: { ...settled.on_chain, settlement_tx: expect.any(String), slot },
    });
  });

  it('is unknown to another wallet, as an id that was never locked is to all [jobs.unmirrored]', async () => {
    const opened = await openStream();
    const id = opened.stream.headers['x-svc-job-id'] as string;
    const lookUp = async (jobId: string, apiKey: string) => {
      const { id: found, error } = await service.get(`/v1/jobs/${jobId}`, apiKey);
      return found ?? error.code;
    };
    expect(await lookUp(id, wallet.apiKey)).toBe(id);
    expect(await lookUp(id, strangersKey)).toBe('job_not_found');
    const unlocked = `${id.slice(0, -8)}${randomBytes(4).toString('hex')}`;
    expect(await lookUp(unlocked, wallet.apiKey)).toBe('job_not_found');
    expect(await lookUp('job_1', wallet.apiKey)).toBe('job_not_found');
    await finish(opened);
  });

  it('is not charged again when it was closed and its request is repeated', async () => {
    const key = { 'idempotency-key': 'said-once' };
    const first = await openStream(key);
    const text = await finish(first);
    await service.advanceSeconds(CLOSABLE_SECONDS);
    await closeJob();

    const { stream: again } = await openStream(key);
    expect(again.headers['x-svc-job-id']).toBe(first.stream.headers['x-svc-job-id']);
    expect(contentOf(await readText(again))).toBe(contentOf(text));
    expect(await ownJobs()).toEqual([]);
    expect((await service.account(wallet.address)).availableCredits).toBe(
      CREDITS - BigInt(CHARGE_CREDITS),
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
    await until(async () => (await read(path)).status === SETTLED);
    expect(await dispute(path)).toMatchObject({ error: { code: 'dispute_window_expired' } });
  });

  it('can be disputed once the ledger has settled it', async () => {
    const { stream, path } = await settleUnseen();
    expect(['pending', 'processing']).toContain((await read(path)).status);

    expect(await dispute(path)).toMatchObject({
      dispute_opened: true,
      worker_hash: stream.trailers['x-svc-output-hash'],
    });
    expect((await ownJobs()).map(({ data }) => data.status)).toEqual([DISPUTED]);
  });
});

/** Lets the mirror see the lock of a job, and not its settlement. */
async function settleUnseen() {
  service.indexer.signal('SIGCONT');
  const opened = await openStream();
  const path = `/v1/jobs/${opened.stream.headers['x-svc-job-id']}`;
  await until(async () => (await read('/v1/jobs')).data.length === 1);
  service.indexer.signal('SIGSTOP');
  await finish(opened);
  return { ...opened, path };
}

async function dispute(path: string): Promise<unknown> {
  const asking = fetch(`${service.baseUrl}${path}/dispute`, {
    method: 'POST',
    headers: { authorization: `Bearer ${wallet.apiKey}` },
    body: JSON.stringify({ received_output_hash: `sha256:${'0'.repeat(64)}` }),
  });
  return (await service.time.advanceUntil(asking)).json();
}

/** As anybody may, once its time is over. */
async function closeJob(): Promise<void> {
  const [found] = await ownJobs();
  if (!found) throw new Error('there is no job');
  const { rentPayer } = found.data;
  await submit(service.operator, [jobClose({ job: found.address, rentPayer })]);
}

/** The text of a stream, without what identifies its chunks. */
function contentOf(stream: string): string {
  return [...stream.matchAll(/"content":"([^"]*)"/g)].map(([, content]) => content).join('');
}
