import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { connectRpc } from '../../programs/client/rpc/rpc.ts';
import { createConfirmer } from '../../programs/client/sender/confirmer.ts';
import { followTransaction } from '../../programs/client/sender/followTransaction.ts';
import { type Asked, type RpcNode, startRpcNode } from './rpcNode.ts';
import { type SignatureNode, startSignatureNode } from './signatureNode.ts';

const SENT = { wire: 'AA==', signature: 'a signature', lastValidBlockHeight: 1_000 };
const LANDED = { status: 'landed', signature: SENT.signature, slot: 7 };

let node: RpcNode;
let socketNode: SignatureNode;
let confirmer: ReturnType<typeof createConfirmer>;
/** What the node says of every signature when it is asked. */
let status: object | null;
/** Its block heights by commitment. */
let heights: Record<string, number>;

function answer({ id, method, params: [subject] }: Asked): object {
  if (method === 'sendTransaction') return { id, result: SENT.signature };
  if (method === 'getEpochInfo') {
    const { commitment } = subject as { commitment: string };
    return { id, result: { blockHeight: heights[commitment], absoluteSlot: 9 } };
  }
  const value = (subject as string[]).map(() => status);
  return { id, result: { context: { slot: 9 }, value } };
}

beforeEach(async () => {
  [node, socketNode] = await Promise.all([startRpcNode(), startSignatureNode()]);
  status = null;
  heights = { confirmed: 1 };
  node.says = (asked) => ({
    body: JSON.stringify(Array.isArray(asked) ? asked.map(answer) : answer(asked)),
  });
  const rpc = connectRpc({ url: node.url });
  confirmer = createConfirmer({ rpc, wsUrl: socketNode.url, commitment: 'confirmed' });
});

afterEach(async () => {
  confirmer.close();
  await Promise.all([node.close(), socketNode.close()]);
});

describe('the outcome of a transaction', () => {
  it('comes from a notification, without a request to the node', async () => {
    const noticed = confirmer.expect(SENT.signature);
    const subscription = await socketNode.next();
    expect(subscription).toMatchObject({
      method: 'signatureSubscribe',
      params: [SENT.signature, { commitment: 'confirmed' }],
    });
    subscription.accept(3);
    subscription.notify(3, { slot: 7, err: null });
    await noticed;
    expect(await confirmer.confirm(SENT)).toEqual(LANDED);
    expect(node.requests).toEqual([]);
  });

  it("comes from a notification that arrives before the subscription's answer", async () => {
    void confirmer.expect(SENT.signature);
    const ended = confirmer.confirm(SENT);
    const subscription = await socketNode.next();
    subscription.notify(3, { slot: 7, err: null });
    subscription.accept(3);
    expect(await ended).toEqual(LANDED);
  });

  it('is polled when the notification is lost', async () => {
    void confirmer.expect(SENT.signature);
    (await socketNode.next()).accept(3);
    status = { slot: 7, err: null, confirmationStatus: 'confirmed' };
    expect(await confirmer.confirm(SENT)).toEqual(LANDED);
    // The subscription is not left behind.
    expect(await socketNode.next()).toMatchObject({ method: 'signatureUnsubscribe', params: [3] });
  });

  it('is polled repeatedly without a websocket', async () => {
    await socketNode.close();
    void confirmer.expect(SENT.signature);
    const ended = confirmer.confirm(SENT);
    await node.reached();
    await node.reached();
    status = { slot: 7, err: null, confirmationStatus: 'confirmed' };
    expect(await ended).toEqual(LANDED);
    socketNode = await startSignatureNode();
  });

  it('comes from a new websocket when one is lost', async () => {
    void confirmer.expect(SENT.signature);
    const ended = confirmer.confirm(SENT);
    const lost = await socketNode.next();
    lost.accept(3);
    lost.socket.terminate();
    const again = await socketNode.next();
    expect(again.params).toEqual(lost.params);
    again.accept(1);
    again.notify(1, { slot: 7, err: null });
    expect(await ended).toEqual(LANDED);
  });
});

describe('a transaction that was not forwarded', () => {
  it('gets no notification', async () => {
    void confirmer.expect(SENT.signature);
    const subscription = await socketNode.next();
    confirmer.forget(SENT.signature);
    subscription.accept(3);
    expect(await socketNode.next()).toMatchObject({ method: 'signatureUnsubscribe', params: [3] });
  });
});

describe('a transaction that is followed', () => {
  const REPEAT_MS = 50;
  let following: AbortController;

  beforeEach(() => {
    heights = { confirmed: 2_000, finalized: 1_000 };
    following = new AbortController();
  });
  afterEach(() => following.abort());

  const follow = () =>
    followTransaction(SENT, {
      rpc: connectRpc({ url: node.url }),
      commitment: 'confirmed',
      signal: following.signal,
      repeatMs: REPEAT_MS,
    });

  /** Resolves once the node was asked for so many of a kind. */
  async function untilAsked(method: string, count: number): Promise<void> {
    const asked = () => node.requests.flat().filter((one) => one.method === method);
    while (asked().length < count) await node.reached();
  }

  it('expired once the final chain has passed it, and not before', async () => {
    const ended = follow();
    let isOver = false;
    void ended.finally(() => {
      isOver = true;
    });
    await untilAsked('sendTransaction', 1);
    await untilAsked('getSignatureStatuses', 3);
    expect(isOver).toBe(false);
    heights.finalized = SENT.lastValidBlockHeight + 1;
    const { signature, lastValidBlockHeight } = SENT;
    expect(await ended).toEqual({ status: 'expired', signature, lastValidBlockHeight, slot: 9 });
  });

  it('is left to itself at the signal', async () => {
    const ended = follow();
    await node.reached();
    following.abort();
    expect(await ended).toBeUndefined();
  });
});
