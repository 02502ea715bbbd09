import { createHash } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { Keypair } from '@solana/web3.js';
import { estimateTokens } from '../../common/tokenizers/tokenCounts.ts';
import { until } from '../../testing/until.ts';
import { createUpstreamEngine } from '../../worker/engine/upstream.ts';
import { readAnswer } from './events.ts';
import { codeOf, openScene, outcomeOf, type Scene } from './scene.ts';
import { type Reply, startUpstream, type UpstreamServer } from './upstreamServer.ts';

let upstream: UpstreamServer;
let scene: Scene;
let started: Promise<Reply>;
beforeAll(async () => {
  upstream = await startUpstream();
  scene = await openScene({ engine: createUpstreamEngine({ url: upstream.url }) });
});
afterAll(async () => {
  await scene.close();
  upstream.close();
});
beforeEach(() => {
  const start = Promise.withResolvers<Reply>();
  started = start.promise;
  upstream.answerWith((reply) => {
    reply.text('Once upon');
    reply.text(' a time \ud83d');
    start.resolve(reply);
  });
});

describe('a stop request', () => {
  it.each([
    ['client_gone', null],
    ['deadline', 'deadline'],
  ] as const)('ends the stream with a proof of why: %s', async (reason, truncated) => {
    const job = await scene.lock();
    const response = await scene.ask(job);
    const reply = await started;
    const stopped = await scene.stop(job, { body: { reason } });
    expect(await stopped.json()).toEqual({ stopped: true });
    const answer = await readAnswer(response);
    expect(answer).toMatchObject({ text: 'Once upon a time \ufffd', finishReason: 'length' });
    expect(answer.truncated ?? null).toBe(truncated);
    const details = { finishReason: 'length', truncated };
    expect(scene.isSigned(job, answer.proof, { details })).toBe(true);
    const hash = createHash('sha256').update(answer.text, 'utf8').digest('hex');
    expect(answer.proof).toMatchObject({
      output_hash: `sha256:${hash}`,
      completion_tokens: estimateTokens(answer.text),
    });
    await reply.closed;
  });

  it('leaves the answer complete after the finish chunk, even without usage', async () => {
    upstream.answerWith((reply) => {
      reply.text('All of it.');
      reply.finish('stop');
      start.resolve(reply);
    });
    const start = Promise.withResolvers<Reply>();
    const job = await scene.lock();
    const response = await scene.ask(job);
    const reply = await start.promise;
    await scene.stop(job, { body: { reason: 'deadline' } });
    const answer = await readAnswer(response);
    const whole = { text: 'All of it.', finishReason: 'stop', truncated: undefined };
    expect(answer).toMatchObject(whole);
    expect(answer.proof).toMatchObject({ completion_tokens: estimateTokens('All of it.') });
    expect(scene.isSigned(job, answer.proof)).toBe(true);
    await reply.closed;
  });

  it('is refused by a key that does not act for the controller', async () => {
    const job = await scene.lock();
    const response = await scene.ask(job);
    const reply = await started;
    expect((await scene.stop(job, { signer: Keypair.generate() })).status).toBe(403);
    expect((await scene.stop(job, { signed: { kind: 'job' } })).status).toBe(401);
    reply.text('\udc4b');
    reply.finish('stop');
    reply.done();
    expect(await readAnswer(response)).toMatchObject({
      text: 'Once upon a time 👋',
      finishReason: 'stop',
    });
  });

  it('gets 404 for a job or an attempt that does not run', async () => {
    const job = await scene.lock();
    expect(await outcomeOf(scene.stop(job))).toBe('404 job_not_running');
    const response = await scene.ask(job);
    await started;
    expect((await scene.stop(job, { body: { attempt: 2 } })).status).toBe(404);
    await scene.stop(job);
    await readAnswer(response);
  });

  it('ends the job without a proof before any output', async () => {
    const start = Promise.withResolvers<void>();
    upstream.answerWith(() => start.resolve());
    const job = await scene.lock();
    const asking = scene.ask(job);
    await start.promise;
    // The upstream is asked before the ledger has shown the job, and until then none runs.
    await until(async () => (await scene.stop(job)).ok);
    const response = await asking;
    expect([response.status, await codeOf(response)]).toEqual([409, 'stopped_before_output']);
  });
});
