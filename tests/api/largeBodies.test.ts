import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { createLargeBodies, type LargeBodies } from '../../api/http/largeBodies/largeBodies.ts';
import { createLogger } from '../../common/logger.ts';
import { bodyWith, nestedArrays } from './requestScene.ts';

let bodies: LargeBodies;

beforeEach(() => {
  bodies = createLargeBodies({ logger: createLogger({ name: 'test', level: 'silent' }) });
});

afterEach(() => bodies.close());

const read = (body: string, isWanted = true) => bodies.read([Buffer.from(body)], () => isWanted);

describe('large bodies', () => {
  it('are read one after the other, without those whose client has left', async () => {
    const ended: string[] = [];
    const note = (name: string) => (body: unknown) => {
      ended.push(name);
      return body;
    };
    const slow = bodyWith({ x: nestedArrays(500_000) });
    const [first, left, last] = await Promise.all([
      read(slow).then(note('slow')),
      read(slow, false).then(note('left')),
      read(bodyWith()).then(note('quick')),
    ]);
    expect(first).toMatchObject({ kind: 'request' });
    expect(left).toBeUndefined();
    expect(last).toMatchObject({
      kind: 'request',
      request: (first as { request: unknown }).request,
    });
    expect(ended).toEqual(['slow', 'left', 'quick']);
  });

  it('are refused as unavailable while 64 others wait, and read again afterwards', async () => {
    const under = Array.from({ length: 65 }, () => read(bodyWith()));
    expect(() => read(bodyWith())).toThrow(
      expect.objectContaining({
        code: 'service_unavailable',
        options: expect.objectContaining({ retryAfterSeconds: 5 }),
      }),
    );
    await Promise.all(under);
    expect(await read('{')).toEqual({ kind: 'not_json' });
  });

  it.each(['throw new Error("test")', 'process.exit(1)'])(
    'are refused as unavailable when their thread ends by %s, and the next is read by a new one',
    async (end) => {
      const script = `
        import { parentPort } from 'node:worker_threads';
        parentPort.on('message', (chunks) => {
          if (new TextDecoder().decode(chunks[0]) === 'end') ${end};
          parentPort.postMessage({ kind: 'not_json' });
        });`;
      const mortal = createLargeBodies({
        logger: createLogger({ name: 'test', level: 'silent' }),
        script: new URL(`data:text/javascript,${encodeURIComponent(script)}`),
      });
      const isWanted = () => true;
      const reads = ['{', 'end', '{'].map((body) => mortal.read([Buffer.from(body)], isWanted));
      expect(await Promise.allSettled(reads)).toMatchObject([
        { value: { kind: 'not_json' } },
        { reason: { code: 'service_unavailable' } },
        { value: { kind: 'not_json' } },
      ]);
      await mortal.close();
    },
  );

  it('that still wait when the service closes are refused as unavailable', async () => {
    const reads = Array.from({ length: 3 }, () => read(bodyWith({ x: nestedArrays(500_000) })));
    const ended = Promise.allSettled(reads);
    await bodies.close();
    expect(await ended).toMatchObject(
      reads.map(() => ({ reason: { code: 'service_unavailable' } })),
    );
  });
});
