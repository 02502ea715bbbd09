import { createHash } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { startClock } from '../../testing/ledger/ledger.ts';
import {
  type MisbehavingWorker,
  startMisbehavingWorker,
} from '../../testing/workers/misbehavingWorker.ts';
import { readAnswer } from './events.ts';
import { openScene, type Scene } from './scene.ts';

let scene: Scene;
let worker: MisbehavingWorker;
beforeAll(async () => {
  scene = await openScene();
  worker = await startMisbehavingWorker({
    mode: 'honest',
    rpc: scene.ledger.rpc,
    authority: scene.keys.authority.publicKey,
    proofKey: scene.keys.proof,
  });
  await startClock(scene.ledger.connection);
  // From here on it takes what is locked.
  await fetch(`${worker.url}/health`);
});
afterAll(async () => {
  await worker.close();
  await scene.close();
});

function hashOf(text: string): string {
  return `sha256:${createHash('sha256').update(text, 'utf8').digest('hex')}`;
}

/** Asks the misbehaving worker; the scene's own worker has the same address on the ledger. */
async function ask(mode: Parameters<MisbehavingWorker['setMode']>[0], signal?: AbortSignal) {
  worker.setMode(mode);
  const job = await scene.lock();
  const response = await scene.ask(job, { url: worker.url, ...(signal && { signal }) });
  return { job, response };
}

describe('a misbehaving worker for tests', () => {
  it('sends a text and its proof in its honest mode', async () => {
    const { job, response } = await ask('honest');
    const { text, proof } = await readAnswer(response);
    expect(proof?.output_hash).toBe(hashOf(text));
    expect(scene.isSigned(job, proof)).toBe(true);
    expect(worker.requests.at(-1)?.path).toBe('/jobs');
  });

  it('never answers', async () => {
    await expect(ask('never_answers', AbortSignal.timeout(300))).rejects.toThrow('timeout');
  });

  it('dies in the middle of its text', async () => {
    const { response } = await ask('dies_midstream');
    expect(response.status).toBe(200);
    await expect(readAnswer(response)).rejects.toThrow();
  });

  it('signs another text than it sent', async () => {
    const { job, response } = await ask('wrong_hash');
    const { text, proof } = await readAnswer(response);
    expect(proof?.output_hash).not.toBe(hashOf(text));
    expect(scene.isSigned(job, proof)).toBe(true);
  });

  it('signs another request than it got', async () => {
    const { job, response } = await ask('another_request');
    const { text, proof } = await readAnswer(response);
    expect(proof?.output_hash).toBe(hashOf(text));
    expect(scene.isSigned(job, proof)).toBe(false);
    const other = createHash('sha256').update('another request').digest();
    expect(scene.isSigned(job, proof, other)).toBe(true);
  });

  it('forges its signature', async () => {
    const { job, response } = await ask('forged_signature');
    const { text, proof } = await readAnswer(response);
    expect(proof?.output_hash).toBe(hashOf(text));
    expect(scene.isSigned(job, proof)).toBe(false);
  });

  it('proves an empty output', async () => {
    const { job, response } = await ask('empty_output');
    const { text, finishReason, proof } = await readAnswer(response);
    expect({ text, finishReason }).toEqual({ text: '', finishReason: 'stop' });
    expect(proof?.output_hash).toBe(hashOf(''));
    expect(scene.isSigned(job, proof)).toBe(true);
  });

  it('sends no proof', async () => {
    const { response } = await ask('no_proof');
    const { text, finishReason, proof } = await readAnswer(response);
    expect(text).not.toBe('');
    expect(finishReason).toBe('stop');
    expect(proof).toBeUndefined();
  });

  it('is slow with its first token', async () => {
    const startedMs = performance.now();
    const { response } = await ask('slow_first_token');
    expect(performance.now() - startedMs).toBeGreaterThan(290);
    expect((await readAnswer(response)).proof).toBeDefined();
  });

  it('inflates its count', async () => {
    const { job, response } = await ask('inflates_count');
    const { text, proof } = await readAnswer(response);
    expect(proof?.completion_tokens).toBe(text.split(' ').length * 10);
    expect(scene.isSigned(job, proof)).toBe(true);
  });

  it('refuses every job', async () => {
    expect((await ask('refuses')).response.status).toBe(503);
  });

  it('continues until it is stopped', async () => {
    const { job, response } = await ask('endless');
    await scene.stop(job, { url: worker.url });
    const { finishReason, proof } = await readAnswer(response);
    expect(finishReason).toBe('length');
    expect(scene.isSigned(job, proof)).toBe(true);
  });
});
