import anchor from '@coral-xyz/anchor';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { freshAddress, type JobFields, openScene, outcomeOf, type Scene } from './scene.ts';

const SHARE_MIN_BASIS_POINTS = 8_500;
const CACHED_MS = 5_000;

let scene: Scene;
beforeAll(async () => {
  scene = await openScene();
});
afterAll(() => scene.close());

describe('a worker that names the gateways it serves', () => {
  it('refuses the job of another controller, for a minute', async () => {
    const response = await scene.ask(await scene.lock({ controller: freshAddress() }));
    expect(response.headers.get('retry-after')).toBe('60');
    expect(await outcomeOf(response)).toBe('403 gateway_not_served');
  });
});

describe('the share of a job', () => {
  let careful: Scene;
  beforeAll(async () => {
    const shareMinBasisPoints = SHARE_MIN_BASIS_POINTS;
    careful = await openScene({ terms: { gateways: 'any', shareMinBasisPoints } });
  });
  afterAll(() => careful.close());
  afterEach(() => careful.writeConfig());

  it.each([
    [1_500, 'taken'],
    [1_501, '403 share_too_low'],
    [10_001, '403 share_too_low'],
  ])('is, with %i basis points for the treasury, %s', async (treasury, outcome) => {
    const job = await careful.lock({ treasury_share_basis_points: treasury });
    expect(await outcomeOf(careful.ask(job))).toBe(outcome);
  });

  it('makes the worker unhealthy while it is below the worker’s own minimum', async () => {
    await careful.writeConfig({ treasury_share_basis_points: 1_501 });
    careful.now.offsetMs += CACHED_MS;
    expect(await outcomeOf(fetch(`${careful.url}/health`))).toBe('503 worker_not_eligible');
    await careful.writeConfig({ treasury_share_basis_points: 1_500 });
    careful.now.offsetMs += CACHED_MS;
    expect((await fetch(`${careful.url}/health`)).status).toBe(200);
  });
});

describe('a lock that the program would not make is refused before work:', () => {
  it.each<[string, JobFields]>([
    ['a shorter timeout', { job_timeout_seconds: 60 }],
    ['a longer timeout', { job_timeout_seconds: 121 }],
    ['another dispute window', { dispute_window_seconds: 61 }],
    ['another arbitration window', { arbitration_window_seconds: 86_399 }],
    ['a lock in the future', { lockedSecondsAgo: -1 }],
    ['an id that is too old', { idAgeSeconds: 91 }],
    ['an id that is too new', { idAgeSeconds: -31 }],
    ['a greater slash than the configuration has', { slash_tokens: 501 }],
    ['no price of a request', { credits_per_request: 0, locked_credits: new anchor.BN(0) }],
    ['no price of tokens', { credits_per_1k_tokens: 0 }],
    ['fewer credits than its prices lock', { locked_credits: new anchor.BN(7) }],
    ['more credits than its prices lock', { locked_credits: new anchor.BN(9) }],
    [
      'more credits than a job may lock',
      { credits_per_request: 3_001, locked_credits: new anchor.BN(3_001) },
    ],
  ])('%s', async (_case, fields) => {
    const job = await scene.lock(fields);
    expect(await outcomeOf(scene.ask(job))).toBe('403 suspicious_lock');
  });

  it('but one at the bounds of all of these is taken', async () => {
    const job = await scene.lock({
      slash_tokens: 500,
      credits_per_request: 3_000,
      locked_credits: new anchor.BN(3_000),
      idAgeSeconds: 90,
    });
    expect(await outcomeOf(scene.ask(job))).toBe('taken');
  });
});
