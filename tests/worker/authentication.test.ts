import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { Keypair } from '@solana/web3.js';
import { readAnswer } from './events.ts';
import {
  codeOf,
  freshAddress,
  type LockedJob,
  openScene,
  outcomeOf,
  type RequestChanges,
  type Scene,
} from './scene.ts';

let scene: Scene;
let job: LockedJob;
/** Before the worker began. */
let beforeMs: number;
beforeAll(async () => {
  beforeMs = Date.now() - 1;
  scene = await openScene();
  job = await scene.lock();
});
afterAll(() => scene.close());

async function expectUnauthenticated(changes: RequestChanges): Promise<void> {
  expect(await outcomeOf(scene.ask(job, changes))).toBe('401 invalid_signature');
}

describe('the signature of a job request', () => {
  it.each<[string, () => RequestChanges]>([
    ['another kind of request', () => ({ signed: { kind: 'stop' } })],
    ['another worker', () => ({ signed: { worker: freshAddress() } })],
    ['another job', () => ({ signed: { job: freshAddress() } })],
    ['another attempt', () => ({ signed: { attempt: 2 } })],
    ['another time', () => ({ signed: { timestampMs: Date.now() + 5_000 } })],
    ['another body', () => ({ signed: { bodySha256: new Uint8Array(32) } })],
  ])('is invalid for %s', async (_field, changes) => {
    await expectUnauthenticated(changes());
  });

  it.each<[string, Record<string, string>]>([
    ['another signer', { 'svc-signer': Keypair.generate().publicKey.toBase58() }],
    ['a signer that is no key', { 'svc-signer': 'unknown' }],
    ['no signer', { 'svc-signer': '' }],
    ['another timestamp', { 'svc-timestamp': String(Date.now() + 5) }],
    ['a timestamp that is no number', { 'svc-timestamp': '1e12' }],
    ['no timestamp', { 'svc-timestamp': '' }],
    ['another signature', { 'svc-signature': Buffer.alloc(64).toString('base64') }],
    ['a short signature', { 'svc-signature': 'AAAA' }],
    ['no signature', { 'svc-signature': '' }],
  ])('is invalid with %s in the headers', async (_header, headers) => {
    await expectUnauthenticated({ headers });
  });

  it('expires after 30 seconds, in either direction', async () => {
    scene.now.stoppedMs = Date.now();
    // A minute ago the process had begun.
    const passedMs = performance.now.bind(performance);
    jest.spyOn(performance, 'now').mockImplementation(() => passedMs() + 60_000);
    for (const direction of [-1, 1]) {
      const timestampMs = scene.nowMs() + direction * 30_000;
      expect((await scene.ask(await scene.lock(), { timestampMs })).status).toBe(200);
      await expectUnauthenticated({ timestampMs: timestampMs + direction });
    }
    jest.restoreAllMocks();
    scene.now.stoppedMs = undefined;
  });

  it('is refused when it was made before the process started', async () => {
    await expectUnauthenticated({ timestampMs: beforeMs });
  });

  it('made after the start is valid when the clock falls back ten minutes', async () => {
    const locked = await scene.lock();
    scene.now.offsetMs = -600_000;
    await expectUnauthenticated({ timestampMs: beforeMs + scene.now.offsetMs });
    const { status } = await scene.ask(locked);
    scene.now.offsetMs = 0;
    expect(status).toBe(200);
  });
});

describe('a job attempt', () => {
  it('runs once: a repeat is refused, and so is a later attempt', async () => {
    const locked = await scene.lock();
    const first = await readAnswer(await scene.ask(locked));
    expect(first.proof).toBeDefined();
    const outcomes = [
      await outcomeOf(scene.ask(locked)),
      await outcomeOf(scene.ask(locked, { body: { attempt: 2 } })),
    ];
    // However far its clock is ahead of the ledger.
    scene.now.offsetMs = 600_000;
    expect(await outcomeOf(scene.ask(await scene.lock()))).toBe('taken');
    outcomes.push(await outcomeOf(scene.ask(locked)));
    scene.now.offsetMs = 0;
    expect(outcomes).toEqual(Array(3).fill('409 attempt_already_used'));
  });

  it('runs once when both requests arrive together', async () => {
    const locked = await scene.lock();
    const responses = await Promise.all([scene.ask(locked), scene.ask(locked)]);
    expect(responses.map(({ status }) => status).sort()).toEqual([200, 409]);
  });

  it('is not used up by a request with a wrong signature', async () => {
    const locked = await scene.lock();
    expect((await scene.ask(locked, { signer: Keypair.generate() })).status).toBe(403);
    expect((await scene.ask(locked)).status).toBe(200);
  });
});

describe('an unreadable request', () => {
  it.each<[string, Record<string, unknown>]>([
    ['an attempt of 0', { attempt: 0 }],
    ['an attempt of 256', { attempt: 256 }],
    ['a token limit of 0', { token_limit: 0 }],
    ['an invalid address', { worker_address: 'x' }],
    ['no messages', { chat: { model: 'test-8b', messages: [] } }],
  ])('has %s and is refused with 400', async (_case, body) => {
    const response = await scene.ask(job, { body, signed: { attempt: 1 } });
    expect([response.status, await codeOf(response)]).toEqual([400, 'invalid_request']);
  });

  it('is refused when it is no object, too large or for an unknown route', async () => {
    const post = (path: string, body: string) =>
      fetch(`${scene.url}${path}`, { method: 'POST', body });
    for (const body of ['{', 'null', '[]', '"text"']) {
      expect(await codeOf(await post('/jobs', body))).toBe('invalid_request');
    }
    expect(await codeOf(await post('/jobs', 'x'.repeat(6_000_000)))).toBe('body_too_large');
    expect(await codeOf(await post('/other', ''))).toBe('route_not_found');
  });
});
