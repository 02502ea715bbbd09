import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { createLargeBodies, type LargeBodies } from '../../api/http/largeBodies/largeBodies.ts';
import { createLogger } from '../../common/logger.ts';
import { bodyWith } from './requestScene.ts';

const logger = createLogger({ name: 'test', level: 'silent' });
let bodies: LargeBodies;

beforeEach(() => {
  bodies = createLargeBodies({ logger });
});

afterEach(() => bodies.close());

const ONE = { wallet: 'one', address: '192.0.2.1' };
const read = (body: string, sender = ONE, isWanted = true) =>
  bodies.read([Buffer.from(body)], sender, () => isWanted);
/** A wallet and address of its own. */
const stranger = (place: number) => ({ wallet: `w${place}`, address: `192.0.2.${place}` });

const refusedAs = (code: string, options: object) =>
  expect.objectContaining({ code, options: expect.objectContaining(options) });
const busy = (limit: number) =>
  refusedAs('rate_limit_exceeded', { retryAfterSeconds: 1, details: { limit } });

describe('large bodies', () => {
  it('are read in order within a wallet, without those of absent clients', async () => {
    const ended: string[] = [];
    const note = (name: string) => (body: unknown) => {
      ended.push(name);
      return body;
    };
    const [first, left, last] = await Promise.all([
      read(bodyWith({ x: '"first"' })).then(note('first')),
      read(bodyWith(), ONE, false).then(note('left')),
      read(bodyWith()).then(note('last')),
    ]);
    expect(first).toMatchObject({ kind: 'request' });
    expect(left).toBeUndefined();
    expect(last).toMatchObject({
      kind: 'request',
      request: (first as { request: unknown }).request,
    });
    expect(ended.filter((name) => name !== 'left')).toEqual(['first', 'last']);
  });

  it('are read in turns among wallets, whichever sent more and sooner', async () => {
    const ended: string[] = [];
    // All from one address, whose bound is not met.
    const sent = ['greedy', 'greedy', 'greedy', 'honest', 'third', 'third'].map((wallet, place) =>
      read('{', { wallet, address: ONE.address }).then(() => ended.push(`${wallet} ${place}`)),
    );
    await Promise.all(sent);
    expect(ended).toEqual(['greedy 0', 'honest 3', 'greedy 1', 'third 4', 'greedy 2', 'third 5']);
  });

  it('are a 429 beyond two waiting ones of a wallet, and no other wallet’s', async () => {
    const under = Array.from({ length: 3 }, () => read(bodyWith()));
    await expect(read(bodyWith())).rejects.toEqual(busy(2));
    // Before it has arrived, too.
    expect(() => bodies.hold(ONE).assertPlace()).toThrow(busy(2));
    bodies.hold(stranger(2)).assertPlace();
    expect(await read(bodyWith(), stranger(2))).toMatchObject({ kind: 'request' });
    await Promise.all(under);
    expect(await read('{')).toEqual({ kind: 'not_json' });
  });

  it('keep no place from the next of their wallet once their client has left', async () => {
    let isWanted = true;
    const left = Array.from({ length: 3 }, () =>
      bodies.read([Buffer.from('{')], ONE, () => isWanted),
    );
    isWanted = false;
    expect(await read(bodyWith())).toMatchObject({ kind: 'request' });
    expect((await Promise.all(left)).slice(1)).toEqual([undefined, undefined]);
  });

  it('beyond eight of an address that wait are a 429, of any wallets', async () => {
    const under = Array.from({ length: 9 }, (_, place) =>
      read('{', { wallet: `w${place}`, address: '::1' }),
    );
    await expect(read('{', { wallet: 'another', address: '::1' })).rejects.toEqual(busy(8));
    expect(await read('{')).toEqual({ kind: 'not_json' });
    await Promise.all(under);
  });

  it('are refused as unavailable while 64 wait, and read again afterwards', async () => {
    const under = Array.from({ length: 65 }, (_, place) => read('{', stranger(place)));
    await expect(read('{', stranger(99))).rejects.toEqual(
      refusedAs('service_unavailable', { retryAfterSeconds: 5 }),
    );
    await Promise.all(under);
    expect(await read('{')).toEqual({ kind: 'not_json' });
  });

  it.each(['throw new Error("test")', 'process.exit(1)'])(
    'are refused when their thread ends by %s, and the next is read',
    async (end) => {
      const script = `
        import { parentPort } from 'node:worker_threads';
        parentPort.on('message', (chunks) => {
          if (new TextDecoder().decode(chunks[0]) === 'end') ${end};
          parentPort.postMessage({ kind: 'not_json' });
        });`;
      const mortal = createLargeBodies({
        logger,
        script: new URL(`data:text/javascript,${encodeURIComponent(script)}`),
      });
      const isWanted = () => true;
      const reads = ['{', 'end', '{'].map((body) =>
        mortal.read([Buffer.from(body)], ONE, isWanted),
      );
      expect(await Promise.allSettled(reads)).toMatchObject([
        { value: { kind: 'not_json' } },
        { reason: { code: 'service_unavailable' } },
        { value: { kind: 'not_json' } },
      ]);
      await mortal.close();
    },
  );

  it('are refused as unavailable if they still wait when the service closes', async () => {
    const reads = Array.from({ length: 3 }, () => read(bodyWith()));
    const ended = Promise.allSettled(reads);
    await bodies.close();
    expect(await ended).toMatchObject(
      reads.map(() => ({ reason: { code: 'service_unavailable' } })),
    );
  });
});

describe('what arrives of bodies', () => {
  const holding = (bytesMax: { wallet: number; address: number; all: number }) =>
    createLargeBodies({ logger, bytesMax });

  it('is bounded for a wallet, an address and the process, until it is let go', () => {
    const { hold } = holding({ wallet: 10, address: 15, all: 20 });
    const refused = hold(ONE);
    refused.keep(9);
    expect(() => refused.keep(11)).toThrow(busy(10));
    // What is refused gives way at once: many that arrive together do not refuse each other.
    const first = hold(ONE);
    first.keep(6);
    first.keep(10);
    expect(() => hold(ONE).keep(1)).toThrow(busy(10));
    const neighbour = hold({ ...ONE, wallet: 'two' });
    expect(() => neighbour.keep(6)).toThrow(busy(15));
    neighbour.keep(5);
    const far = hold(stranger(9));
    expect(() => far.keep(6)).toThrow(refusedAs('service_unavailable', {}));
    far.keep(5);
    first.release();
    hold(ONE).keep(5);
    // What was let go counts no second time.
    first.release();
    expect(() => hold(stranger(8)).keep(6)).toThrow(refusedAs('service_unavailable', {}));
  });
});
