import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { connectPooledRpc } from '../../common/net/pooledRpc.ts';
import { getSlot, sendTransaction } from '../../programs/client/rpc/methods.ts';
import {
  connectRpc,
  NoAnswerError,
  type Rpc,
  RpcError,
  UnreachableError,
} from '../../programs/client/rpc/rpc.ts';
import { type Asked, echo, echoed, type RpcNode, startRpcNode } from './rpcNode.ts';

const CLIENTS = { 'by fetch': connectRpc, 'by pooled connections': connectPooledRpc };

describe.each(Object.entries(CLIENTS))('%s', (_name, connect) => {
  let node: RpcNode;
  let rpc: Rpc;

  beforeEach(async () => {
    node = await startRpcNode();
    rpc = connect({ url: node.url });
  });

  afterEach(async () => {
    jest.useRealTimers();
    await node.close();
  });

  const ask = (parameter: unknown, by = rpc): Promise<unknown> =>
    by.ask('echo', [parameter], (result) => (result as unknown[])[0]);

  const askAll = (count: number): Promise<unknown[]> =>
    Promise.all(Array.from({ length: count }, (_, index) => ask(index)));

  /** Of each request, how many questions it carried. */
  const sizes = (): number[] =>
    node.requests.map((asked) => (Array.isArray(asked) ? asked.length : 1));

  /** Time stands still until it is advanced; answers come as ever. */
  function holdTime(): void {
    jest.useFakeTimers({
      doNotFake: [
        'Date',
        'nextTick',
        'performance',
        'queueMicrotask',
        'setImmediate',
        'setInterval',
      ],
    });
  }

  describe('calls to a node', () => {
    it('share a request when made in the same turn, up to fifty', async () => {
      expect(await askAll(60)).toEqual(Array.from({ length: 60 }, (_, index) => index));
      expect(sizes()).toEqual([50, 10]);
    });

    it('are gathered while requests are in flight, for a limited time', async () => {
      node.says = () => undefined;
      for (const silent of [1, 2]) {
        const reached = node.reached();
        void ask(silent).catch(() => undefined);
        await reached;
      }
      node.says = echo;
      holdTime();
      const gathered = [ask(3)];
      await new Promise((resolve) => setImmediate(resolve));
      gathered.push(ask(4));
      jest.advanceTimersByTime(4);
      await new Promise((resolve) => setImmediate(resolve));
      expect(sizes()).toEqual([1, 1]);
      jest.advanceTimersByTime(1);
      expect(await Promise.all(gathered)).toEqual([3, 4]);
      expect(sizes()).toEqual([1, 1, 2]);
    });

    it('get their own answers in any order', async () => {
      node.says = (asked) => ({ body: JSON.stringify((asked as Asked[]).map(echoed).reverse()) });
      expect(await askAll(5)).toEqual([0, 1, 2, 3, 4]);
    });

    it('fail alone when an answer is missing, refused, or malformed', async () => {
      node.says = (asked) => {
        const [, refused, strange, ...others] = asked as [Asked, Asked, Asked, ...Asked[]];
        const error = { code: -32_004, message: 'not now', data: { since: 7 } };
        const bad = [
          { id: refused.id, error },
          { ...echoed(strange), result: null },
        ];
        return { body: JSON.stringify([...bad, ...others.map(echoed), null, 5]) };
      };
      const [missing, refused, strange, answered] = await Promise.allSettled(
        [0, 1, 2, 3].map((n) => ask(n)),
      );
      expect(missing).toMatchObject({ reason: expect.any(NoAnswerError) });
      expect(refused).toMatchObject({ reason: expect.any(RpcError) });
      expect(refused).toMatchObject({ reason: { code: -32_004, data: { since: 7 } } });
      expect(strange).toMatchObject({ reason: expect.any(NoAnswerError) });
      expect(answered).toEqual({ status: 'fulfilled', value: 3 });
    });

    it('are named by method when the answer is malformed', async () => {
      node.says = (asked) => ({ body: JSON.stringify({ ...echoed(asked as Asked), result: 'x' }) });
      await expect(getSlot(rpc, { commitment: 'confirmed' })).rejects.toThrow(
        'answered getSlot in another form',
      );
    });

    it('do not wait for transactions that are sent in the same turn', async () => {
      node.says = (asked) =>
        'method' in asked && asked.method === 'sendTransaction' ? undefined : echo(asked);
      const options = { preflightCommitment: 'confirmed', minContextSlot: 1 } as const;
      void sendTransaction(rpc, 'wire', options).catch(() => undefined);
      expect(await askAll(2)).toEqual([0, 1]);
    });

    it('travel with later ones if not urgent, and alone after a limit', async () => {
      holdTime();
      const riders: Promise<unknown>[] = [];
      rpc.piggyback(() => riders.push(ask('rider')), 1_000);
      expect(await ask('other')).toBe('other');
      rpc.piggyback(() => riders.push(ask('alone')), 1_000);
      rpc.piggyback(() => riders.push(ask('given up')), 1_000)();
      jest.advanceTimersByTime(1_000);
      expect(await Promise.all(riders)).toEqual(['rider', 'alone']);
      expect(sizes()).toEqual([2, 1]);
    });
  });

  describe('a node that refuses a batch of calls', () => {
    const id = null;
    const refused = (code: number, message: string) =>
      JSON.stringify({ id, error: { code, message } });

    it.each([
      ['a code', 200, refused(-32_600, 'Only method calls are supported')],
      ['words', 403, refused(-32_403, 'Batch requests are for paid plans only')],
      ['a status', 413, '<html>Too large</html>'],
    ])('gets single calls from then on: %s', async (_name, status, body) => {
      node.says = (asked) => (Array.isArray(asked) ? { status, body } : echo(asked));
      expect(await askAll(3)).toEqual([0, 1, 2]);
      expect(await askAll(2)).toEqual([0, 1]);
      expect(sizes()).toEqual([3, 1, 1, 1, 1, 1]);
    });

    it.each([
      ['a page of HTML', 200, '<html>Back soon</html>'],
      ['too many requests', 429, refused(429, 'Too many requests')],
      ['a bad gateway', 502, ''],
    ])('differs from %s, which fails every call of the request', async (_name, status, body) => {
      node.says = () => ({ status, body });
      const failed = await Promise.allSettled([ask(1), ask(2)]);
      expect(failed.map((end) => end.status)).toEqual(['rejected', 'rejected']);
      node.says = echo;
      await askAll(2);
      expect(sizes()).toEqual([2, 2]);
    });
  });

  describe('a node that does not respond', () => {
    it('times out after ten seconds, or the time that its caller gives it', async () => {
      holdTime();
      node.says = () => undefined;
      const hasty = connect({ url: node.url, timeoutMs: 20 });
      for (const [by, ms] of [
        [rpc, 10_000],
        [hasty, 20],
      ] as const) {
        const reached = node.reached();
        const asked = [ask(1, by), ask(2, by)];
        const ended = Promise.allSettled(asked);
        await reached;
        jest.advanceTimersByTime(ms);
        const [first, second] = await ended;
        const message = expect.stringContaining(`did not answer echo within ${ms} ms`);
        expect(first).toMatchObject({ reason: { message } });
        expect(second).toMatchObject({ reason: expect.any(NoAnswerError) });
      }
    });

    it('is neither waited for nor called once the client is closed', async () => {
      const ending = new AbortController();
      const ended = connect({ url: node.url, ending: ending.signal });
      node.says = () => undefined;
      const waiting = ask(1, ended);
      await node.reached();
      ending.abort();
      await expect(waiting).rejects.toThrow(NoAnswerError);
      await expect(ask(2, ended)).rejects.toThrow(NoAnswerError);
      expect(node.requests).toHaveLength(1);
    });

    it('fails the call when it is unreachable', async () => {
      const away = connect({ url: 'http://127.0.0.1:9' });
      await expect(ask(1, away)).rejects.toThrow(UnreachableError);
    });
  });
});
