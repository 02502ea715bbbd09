import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import OpenAI from 'openai';
import { regenerateKey, revokeKey } from '../../api/account/keys.ts';
import type { StartedProcess } from '../../testing/childProcess.ts';
import { REFUNDABLE_SECONDS } from '../../testing/ledger/deadlines.ts';
import { untilEnded } from '../../testing/ledger/walletBooks.ts';
import { type Balancer, startBalancer } from '../../testing/service/balancer.ts';
import { fetchHastily, requestCompletion } from '../../testing/service/requestCompletion.ts';
import { type RunningService, startRunningService } from '../../testing/service/runningService.ts';
import { until } from '../../testing/until.ts';
import { answerInTwoParts, createScriptedEngine } from '../../testing/workers/engines.ts';

const CREDITS = 100n;
const CHARGE_CREDITS = 8n;

const engine = createScriptedEngine();
let service: RunningService;

beforeAll(async () => {
  service = await startRunningService({ workers: [engine, engine] });
});

afterAll(() => service?.close());

describe('two instances on one database and one ledger', () => {
  let urls: [left: string, right: string];

  beforeAll(async () => {
    urls = [service.baseUrl, (await service.startInstance()).url];
  });

  it('both refuse a key with the next request after it was revoked or replaced [keys.revoked-at-once]', async () => {
    const wallet = await service.addWallet(CREDITS);
    const statuses = (apiKey: string) =>
      Promise.all(
        [...urls, ...urls].map(async (url) => {
          const headers = { authorization: `Bearer ${apiKey}` };
          return (await fetch(`${url}/v1/models`, { headers })).status;
        }),
      );
    expect(await statuses(wallet.apiKey)).toEqual(Array(4).fill(200));
    const next = await regenerateKey(service.pool, wallet.address.toBase58());
    expect(await statuses(wallet.apiKey)).toEqual(Array(4).fill(401));
    expect(await statuses(next)).toEqual(Array(4).fill(200));
    await revokeKey(service.pool, wallet.address.toBase58());
    expect(await statuses(next)).toEqual(Array(4).fill(401));
  });

  it('run one job for a request that reaches both under one Idempotency-Key', async () => {
    const { address, apiKey } = await service.addWallet(CREDITS);
    const ask = (baseUrl: string) =>
      requestCompletion(
        { ...service, baseUrl },
        { form: 'plain', apiKey, headers: { 'idempotency-key': 'once' } },
      );
    const first = await Promise.all([...urls, ...urls].map(ask));
    for (const { error } of first.filter(({ status }) => status !== 200)) {
      expect(error?.code).toBe('idempotency_key_in_use');
    }
    await service.untilMirrored();
    const later = await Promise.all(urls.map(ask));
    expect(later.map(({ headers }) => headers['x-svc-replayed'])).toEqual(['true', 'true']);
    const answered = [...first, ...later].filter(({ status }) => status === 200);
    expect(new Set(answered.map(({ headers }) => headers['x-svc-job-id'])).size).toBe(1);
    expect((await untilEnded(service, address, 1)).available).toBe(CREDITS - CHARGE_CREDITS);
  });
});

const REQUESTS = 20;

describe(`an instance that is killed under ${REQUESTS} requests`, () => {
  const LOCKED_BEFORE_KILL = 12;
  let killed: StartedProcess;
  let balancer: Balancer;

  beforeAll(async () => {
    killed = await service.startApiProcess();
    balancer = await startBalancer([killed.url, service.baseUrl]);
  });

  afterAll(() => balancer?.close());

  /**
   * The official client with a wallet of its own, whose balance shows what its request cost. A stream
   * that breaks off is the caller's to repeat: under a key, so that it is the same request.
   */
  async function addClient(index: number) {
    const { address: wallet, apiKey } = await service.addWallet(CREDITS);
    const baseURL = `${balancer.url}/v1`;
    const { completions } = new OpenAI({ baseURL, apiKey, fetch: fetchHastily }).chat;
    // Two by two, since the balancer alternates.
    const isStream = index % 4 < 2;
    const messages = [{ role: 'user' as const, content: `Request ${index}.` }];
    const body = { model: service.model.id, messages };
    async function complete(): Promise<void> {
      if (!isStream) return void (await completions.create(body));
      const headers = { 'idempotency-key': `request-${index}` };
      const stream = await completions.create({ ...body, stream: true }, { headers });
      for await (const _chunk of stream);
    }
    /** Asks, with the client's silent retries. @returns whether it got its answer */
    const ask = () =>
      complete().then(
        () => true,
        () => false,
      );
    return { wallet, isStream, ask };
  }

  it('loses no credit, and charges no request twice, however often repeated', async () => {
    const clients = await Promise.all(Array.from({ length: REQUESTS }, (_, at) => addClient(at)));
    const before = (await service.jobs()).length;
    const release = answerInTwoParts(engine);
    // However long that takes, the other instance gives no answer up.
    service.time.hold();
    const asking = Promise.all(clients.map(({ ask }) => ask()));
    await service.untilJobs((jobs) => jobs.length >= before + LOCKED_BEFORE_KILL);
    // A stream: the others begin with their end.
    await until(async () => balancer.begun(killed.url) > 0);
    await killed.kill();
    service.time.release();
    release();
    const answered = await asking;
    expect(balancer.cuts()).toBeGreaterThan(0);
    expect(answered).toContain(true);

    await service.untilMirrored();
    await service.advanceSeconds(REFUNDABLE_SECONDS);
    const cutStreams = clients.filter(({ isStream }, index) => isStream && !answered[index]);
    expect(cutStreams).not.toEqual([]);
    await Promise.all(cutStreams.map(({ ask }) => until(ask)));

    for (const { wallet } of clients) {
      await until(async () => (await service.account(wallet)).lockedCredits === 0n);
      await service.untilMirrored();
      // In the mirror: a job of some minutes ago is closed on the ledger.
      const { rows } = await service.pool.query(
        "select from mirror.jobs where wallet = $1 and status = 'settled'",
        [wallet.toBase58()],
      );
      // None where the request did not come as far as its lock.
      expect(rows.length).toBeLessThanOrEqual(1);
      const { availableCredits } = await service.account(wallet);
      expect(availableCredits).toBe(CREDITS - CHARGE_CREDITS * BigInt(rows.length));
    }
    await service.expectConserved();
  });
});
