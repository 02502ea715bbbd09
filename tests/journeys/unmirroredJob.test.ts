import { randomBytes } from 'node:crypto';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { TransactionInstruction } from '@solana/web3.js';
import { jobClose } from '../../programs/client/instructions.ts';
import { submit } from '../../stack/operator.ts';
import { sentToProgram } from '../../testing/ledger/ledgerGate.ts';
import { ofWallet, untilEnded } from '../../testing/ledger/walletBooks.ts';
import { type GatedService, startGatedService } from '../../testing/service/gatedService.ts';
import {
  type Answer,
  type Form,
  openStream,
  requestCompletion,
} from '../../testing/service/requestCompletion.ts';
import { until } from '../../testing/until.ts';
import { landUnchecked } from '../indexer/landUnchecked.ts';

const CREDITS = 100n;
const CHARGE_CREDITS = 8;
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
  service.engine.play(async function* () {
    yield 'Hello.';
  });
  service.indexer.signal('SIGSTOP');
});

afterEach(() => {
  service.ledgerGate.open();
  service.indexer.signal('SIGCONT');
});

afterAll(() => service?.close());

const read = (path: string) => service.get(path, wallet.apiKey);
const ownJobs = async () => ofWallet(await service.jobs(), wallet.address);
const pathOf = ({ headers }: Pick<Answer, 'headers'>) => `/v1/jobs/${headers['x-svc-job-id']}`;

/** An answer, which waits for the mirror no longer than it does. */
const ask = (form: Form = 'plain', headers: Record<string, string> = {}) =>
  service.time.advanceUntil(
    requestCompletion(service, { form, apiKey: wallet.apiKey, headers }),
    100,
  );

/** A stream that has begun, and what ends it: it waits for the mirror no longer than it does. */
async function beginStream() {
  const { headers, end } = await openStream(service, {
    engine: service.engine,
    apiKey: wallet.apiKey,
  });
  const finish = async () => {
    const answer = await service.time.advanceUntil(end());
    await untilEnded(service, wallet.address, 1);
    return answer;
  };
  return { headers, finish };
}

async function dispute(path: string) {
  const asking = fetch(`${service.baseUrl}${path}/dispute`, {
    method: 'POST',
    headers: { authorization: `Bearer ${wallet.apiKey}` },
    body: JSON.stringify({ received_output_hash: `sha256:${'0'.repeat(64)}` }),
  });
  return (await service.time.advanceUntil(asking)).json();
}

/** As anybody may, once its time is over. */
async function closeJob(): Promise<void> {
  await service.advanceSeconds(CLOSABLE_SECONDS);
  const [found] = await ownJobs();
  if (!found) throw new Error('there is no job');
  const { rentPayer } = found.data;
  await submit(service.operator, [jobClose({ job: found.address, rentPayer })]);
}

describe('with a stopped indexer, a plain answer', () => {
  const mirrorMs = ({ headers }: Answer): number =>
    Number(/mirror;dur=([\d.]+)/.exec(String(headers['server-timing']))?.[1]);
  const chargeHeaders = ({ headers }: Answer) => [
    headers['x-svc-credits-remaining'],
    headers['x-svc-settlement-tx'],
  ];

  it('has the ledger’s balance and settlement, without a wait for the mirror [completions.plain-headers]', async () => {
    const startMs = service.time.nowMs();
    const first = await ask('plain', { 'idempotency-key': 'asked-once' });
    expect(chargeHeaders(first)).toEqual(['92', expect.any(String)]);
    // The mirror is waited for once, and not to the end of its 10 s.
    expect(service.time.nowMs() - startMs).toBeLessThan(10_000);
    const answer = await ask();
    expect(chargeHeaders(answer)).toEqual(['84', expect.any(String)]);
    expect(mirrorMs(answer)).toBeLessThan(mirrorMs(first) / 2);
    expect((await service.account(wallet.address)).availableCredits).toBe(84n);

    const again = await ask('plain', { 'idempotency-key': 'asked-once' });
    expect(again.headers['x-svc-replayed']).toBe('true');
    expect(chargeHeaders(again)).toEqual(chargeHeaders(first));

    service.indexer.signal('SIGCONT');
    await service.untilMirrored();
    const job = await read(pathOf(answer));
    expect(job.on_chain.settlement_tx).toBe(answer.headers['x-svc-settlement-tx']);
  });
});

describe('with a stopped indexer, a job', () => {
  it('is read from the ledger as mirrored, but without its end’s signatures [jobs.unmirrored]', async () => {
    const { headers, finish } = await beginStream();
    const path = pathOf({ headers });
    const running = await read(path);
    expect(running).toMatchObject({
      ...{ id: headers['x-svc-job-id'], object: 'job', tier: service.model.tier },
      ...{ model: service.model.id, credits_charged: 0, completed_at: null, usage: null },
      on_chain: {
        escrow_tx: headers['x-svc-tx-signature'],
        ...{ settlement_tx: null, proof_hash: null },
      },
    });
    expect(['pending', 'processing']).toContain(running.status);

    const { trailers } = await finish();
    const settled = await read(path);
    expect(settled).toMatchObject({
      ...{ status: 'settled', credits_charged: CHARGE_CREDITS },
      worker_address: headers['x-svc-worker'],
      on_chain: { proof_hash: trailers['x-svc-output-hash'] },
    });
    // It is a valid cursor of the list, which does not have it.
    for (const query of ['', `?before=${settled.id}`, `?after=${settled.id}`]) {
      expect((await read(`/v1/jobs${query}`)).data).toEqual([]);
    }

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
    const id = String((await ask('stream')).headers['x-svc-job-id']);
    const lookUp = async (jobId: string, apiKey: string) => {
      const { id: found, error } = await service.get(`/v1/jobs/${jobId}`, apiKey);
      return found ?? error.code;
    };
    expect(await lookUp(id, wallet.apiKey)).toBe(id);
    const unlocked = `${id.slice(0, -8)}${randomBytes(4).toString('hex')}`;
    expect([
      await lookUp(id, strangersKey),
      await lookUp(unlocked, wallet.apiKey),
      await lookUp('job_1', wallet.apiKey),
    ]).toEqual(Array(3).fill('job_not_found'));
  });

  it('shows the transaction of its lock, not an earlier one that was refused', async () => {
    const refusedTx = Promise.withResolvers<string>();
    // The ledger takes, refuses and lists another lock before it, as after a lost race.
    service.ledgerGate.intercept(async (request, forward) => {
      const lock = sentToProgram(request, 'job_lock');
      if (lock) {
        service.ledgerGate.open();
        const keys = lock.keys.map((key) => ({ ...key, isSigner: false, isWritable: false }));
        const unsigned = new TransactionInstruction({ ...lock, keys });
        refusedTx.resolve(await landUnchecked(service.ledger, unsigned));
      }
      return forward(request);
    });
    const { headers, finish } = await beginStream();
    const { on_chain } = await read(pathOf({ headers }));
    expect(on_chain.escrow_tx).not.toBe(await refusedTx.promise);
    expect(on_chain.escrow_tx).toBe(headers['x-svc-tx-signature']);
    await finish();
  });

  it('is known at a node that has the job but lists no transaction of it yet', async () => {
    const path = pathOf(await ask('stream'));
    const listNothing = (times: number) => {
      let left = times;
      service.ledgerGate.intercept(async (request, forward) => {
        if (request.method !== 'getSignaturesForAddress' || left === 0) return forward(request);
        left -= 1;
        return { jsonrpc: '2.0', id: request.id, result: [] };
      });
    };
    listNothing(1);
    expect(`/v1/jobs/${(await read(path)).id}`).toBe(path);
    listNothing(100);
    expect(await service.time.advanceUntil(read(path))).toMatchObject({
      error: { code: 'service_unavailable' },
    });
  });

  it('can be disputed, and shows its charged usage, not the worker’s claim', async () => {
    service.workers[0]?.setMode('inflates_count');
    const answer = await ask();
    service.workers[0]?.setMode('honest');
    const { prompt_tokens, completion_tokens, total_tokens } = JSON.parse(answer.body).usage;
    const disputed = {
      status: 'disputed',
      usage: { prompt_tokens, completion_tokens, total_tokens },
    };
    expect(await dispute(pathOf(answer))).toMatchObject({ dispute_opened: true });
    expect(await read(pathOf(answer))).toMatchObject(disputed);
    service.indexer.signal('SIGCONT');
    await service.untilMirrored();
    expect(await read(pathOf(answer))).toMatchObject(disputed);
  });
});

describe('with a stopped indexer, a job that the mirror shows as running', () => {
  /** Lets the mirror see the lock of a job, and not its settlement. */
  async function settleUnseen() {
    service.indexer.signal('SIGCONT');
    const { headers, finish } = await beginStream();
    const path = pathOf({ headers });
    await until(async () => (await read('/v1/jobs')).data.length === 1);
    service.indexer.signal('SIGSTOP');
    return { ...(await finish()), path };
  }

  it('is not reported as free of charge after it was closed', async () => {
    const { path } = await settleUnseen();
    await closeJob();
    expect(await dispute(path)).toMatchObject({ error: { code: 'service_unavailable' } });
    service.indexer.signal('SIGCONT');
    await until(async () => (await read(path)).status === 'settled');
    expect(await dispute(path)).toMatchObject({ error: { code: 'dispute_window_expired' } });
  });

  it('can be disputed once the ledger has settled it', async () => {
    const { trailers, path } = await settleUnseen();
    expect(['pending', 'processing']).toContain((await read(path)).status);
    expect(await dispute(path)).toMatchObject({
      dispute_opened: true,
      worker_hash: trailers['x-svc-output-hash'],
    });
    expect((await ownJobs()).map(({ data }) => data.status)).toEqual(['disputed']);
  });
});
