import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Keypair } from '@solana/web3.js';
import type { ErrorBody } from '../../../api/contracts/errors.ts';
import type { ConsoleJob } from '../../../api/contracts/job.ts';
import { limitSet } from '../../../programs/client/instructions.ts';
import { submit } from '../../../stack/operator.ts';
import { requestCompletion } from '../../../testing/service/requestCompletion.ts';
import {
  type RunningService,
  startRunningService,
} from '../../../testing/service/runningService.ts';
import { until } from '../../../testing/until.ts';
import { type CallConsole, consoleAt, signIn } from './consoleScene.ts';

let service: RunningService;
let call: CallConsole;
let cookie: string;
let origin: string;

beforeAll(async () => {
  service = await startRunningService();
  origin = new URL(service.baseUrl).origin;
  call = consoleAt(service.baseUrl, origin, { isReal: true });
  cookie = await signIn(call, service.wallet);
});

afterAll(() => service?.close());

const complete = (body: object = {}, as = cookie) =>
  fetch(`${service.baseUrl}/console/api/chat/completions`, {
    method: 'POST',
    headers: { origin, 'content-type': 'application/json', cookie: as },
    body: JSON.stringify({
      model: service.model.id,
      messages: [{ role: 'user', content: 'Say hello.' }],
      ...body,
    }),
  });

const errorCode = (body: unknown) => (body as ErrorBody).error.code;

describe('the playground', () => {
  it('streams an answer of /v1, with the times of lock and first token', async () => {
    const response = await complete({ stream: true });

    expect(response.status).toBe(200);
    expect(response.headers.get('server-timing')).toMatch(
      /lock;dur=[\d.]+, first_token;dur=[\d.]+/,
    );
    const id = response.headers.get('x-svc-job-id');
    expect(await response.text()).toContain('data: [DONE]');
    let job: ConsoleJob | undefined;
    await until(async () => {
      job = (await call(`GET /jobs/${id}`, { cookie })).body;
      return job?.timings !== null;
    });
    const ms = expect.any(Number);
    const timings = { lock_ms: ms, first_token_ms: ms, worker_ms: ms, settlement_ms: ms };
    expect(job).toMatchObject({ id, status: 'settled', is_closed: false, timings });
  });

  it('is refused without a key', async () => {
    const refused = await complete({}, await signIn(call, Keypair.generate()));
    expect([refused.status, errorCode(await refused.json())]).toEqual([404, 'key_not_found']);
  });
});

describe('a stolen session', () => {
  const CREDITS = 100n;
  const LIMITS = { limitPerJobCredits: 8n, limitPerDayCredits: 24n };

  it('gets a key after a recent sign-in, and only with a daily limit', async () => {
    const { address, keypair, apiKey } = await service.addWallet(CREDITS);
    await submit(service.operator, [limitSet({ wallet: address, ...LIMITS })], [keypair]);
    const stolen = await signIn(call, keypair);
    const age = (minutes: number) =>
      service.pool.query(
        'update service.sessions set signed_in_at = signed_in_at - $2::interval where wallet = $1',
        [address.toBase58(), `${minutes} minutes`],
      );
    await age(16);
    const refused = await call('POST /key/regenerate', { cookie: stolen });
    expect(refused.body.error.code).toBe('fresh_sign_in_required');
    expect((await complete({}, stolen)).status).toBe(200);
    await age(-16);
    const { body } = await call('POST /key/regenerate', { cookie: stolen });
    const statuses: number[] = [];
    for (let request = 0; request < 3; request += 1) {
      const { status } = await requestCompletion(service, { form: 'plain', apiKey: body.api_key });
      statuses.push(status);
    }
    expect(statuses).toEqual([200, 200, 403]);
    expect((await complete({}, stolen)).status).toBe(403);
    const owners = await requestCompletion(service, { form: 'plain', apiKey });
    expect(owners.status).toBe(401);
    expect(await service.account(address)).toMatchObject({
      availableCredits: CREDITS - LIMITS.limitPerDayCredits,
    });
  });
});

describe('the account', () => {
  it('has credits, spender and rules as the ledger has them', async () => {
    const { body } = await call('GET /account', { cookie });
    const account = await service.account();

    expect(body).toMatchObject({
      is_open: true,
      available_credits: Number(account.availableCredits),
      locked_credits: 0,
      charged_today_credits: Number(account.spentTodayCredits),
      spender: { is_service: true, limit_per_job_credits: null },
      rules: { deposits_paused: false, locks_paused: false },
    });
  });

  it('is empty, not an error, for a wallet without one', async () => {
    const { body } = await call('GET /account', {
      cookie: await signIn(call, Keypair.generate()),
    });
    expect(body).toMatchObject({ is_open: false, available_credits: 0, spender: null });
  });

  it('has a history with a row a job, in which changes add up to the balance', async () => {
    const pages = [];
    let cursor = '';
    for (;;) {
      const { body } = await call(`GET /account/history?limit=3${cursor}`, { cookie });
      pages.push(body.data);
      if (!body.has_more) break;
      cursor = `&before=${body.next_cursor}`;
    }
    const changes = pages.flat();
    const { body: account } = await call('GET /account', { cookie });
    const sum = (field: string) => changes.reduce((total, change) => total + change[field], 0);
    expect(sum('available_change_credits')).toBe(account.available_credits);
    expect(sum('locked_change_credits')).toBe(0);
    const jobs = changes.filter(({ job_id }) => job_id !== null);
    expect(new Set(jobs.map(({ job_id }) => job_id)).size).toBe(jobs.length);
    expect(sum('charged_credits')).toBe(account.charged_today_credits);
    for (const { charged_credits, available_change_credits } of jobs)
      expect(available_change_credits + charged_credits).toBe(0);
    expect(changes.at(-1)).toMatchObject({ event: 'CreditOpened', sequence: '1' });
    expect(changes[0].job_id).toMatch(/^job_/);
  });
});
