import { createHash } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { ed25519 } from '@noble/curves/ed25519.js';
import { PROGRAM_ID } from '../../programs/client/addresses.ts';
import { readAnswer } from './events.ts';
import { openScene, SALT, type Scene } from './scene.ts';

const sha256 = (bytes: string | Uint8Array): Buffer => createHash('sha256').update(bytes).digest();

let scene: Scene;
beforeAll(async () => {
  scene = await openScene();
});
afterAll(() => scene.close());

describe('a job answered by the built-in engine', () => {
  it('streams role, text and finish chunk, and names its engine [models.engine]', async () => {
    const response = await scene.ask(await scene.lock());
    expect(response.status).toBe(200);
    expect(response.headers.get('content-type')).toBe('text/event-stream; charset=utf-8');
    expect(response.headers.get('x-svc-engine')).toBe('builtin');
    const answer = await readAnswer(response);
    expect(answer).toMatchObject({ role: 'assistant', finishReason: 'stop', error: undefined });
    expect(answer.text).toContain('built-in engine, not a language model');
  });

  it('ends with a proof that another ed25519 implementation verifies', async () => {
    const job = await scene.lock();
    const { text, proof } = await readAnswer(await scene.ask(job));
    const hash = sha256(text);
    expect(proof).toMatchObject({ output_hash: `sha256:${hash.toString('hex')}` });
    const counts = Buffer.alloc(8);
    counts.writeUInt32LE(Number(proof?.prompt_tokens), 0);
    counts.writeUInt32LE(Number(proof?.completion_tokens), 4);
    const asked =
      '{"messages":[{"content":"Say hello to the harbour.","role":"user"}],"model":"test-8b",' +
      '"token_limit":200}';
    const details = '{"finish_reason":"stop","reasoning":null,"tool_calls":null,"truncated":null}';
    const message = Buffer.concat([
      Buffer.from('svc-proof-v2'),
      PROGRAM_ID.toBytes(),
      job.address.toBytes(),
      scene.worker.toBytes(),
      Buffer.from([1]),
      hash,
      counts,
      sha256(Buffer.concat([sha256(Buffer.concat([SALT, sha256(asked)])), sha256(details)])),
    ]);
    expect(message.length).toBe(181);
    const signature = Buffer.from(String(proof?.signature), 'base64');
    const key = scene.keys.proof.publicKey.toBytes();
    expect(ed25519.verify(signature, sha256(message), key)).toBe(true);
  });
});
