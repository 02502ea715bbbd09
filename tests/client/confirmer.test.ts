import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { connectRpc } from '../../programs/client/rpc/connectRpc.ts';
import { type Confirmer, createConfirmer } from '../../programs/client/sender/confirmer.ts';
import { createLedger } from '../../programs/client/sender/ledger.ts';
import { type Asked, type RpcNode, startRpcNode } from './rpcNode.ts';
import { type SignatureNode, startSignatureNode } from './signatureNode.ts';

const SENT = { wire: 'AA==', signature: 'a signature', lastValidBlockHeight: 1_000 };
const CONFIRMED = { status: 'confirmed', signature: SENT.signature, slot: 7 };

let node: RpcNode;
let socketNode: SignatureNode;
let confirmer: Confirmer;
/** What the node says of every signature when it is asked. */
let status: object | null;

beforeEach(async () => {
  [node, socketNode] = await Promise.all([startRpcNode(), startSignatureNode()]);
  status = null;
  node.says = (asked) => {
    const { id, params } = asked as Asked;
    const value = (params[0] as string[]).map(() => status);
    return { body: JSON.stringify({ id, result: { context: { slot: 9 }, value } }) };
  };
  const ledger = createLedger(connectRpc({ url: node.url }));
  confirmer = createConfirmer({ ledger, wsUrl: socketNode.url, commitment: 'confirmed' });
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
    expect(await confirmer.confirm(SENT)).toEqual(CONFIRMED);
    expect(node.requests).toEqual([]);
  });

  it("comes from a notification that arrives before the subscription's answer", async () => {
    void confirmer.expect(SENT.signature);
    const ended = confirmer.confirm(SENT);
    const subscription = await socketNode.next();
    subscription.notify(3, { slot: 7, err: null });
    subscription.accept(3);
    expect(await ended).toEqual(CONFIRMED);
  });

  it('is a refusal when the notification contains an error', async () => {
    void confirmer.expect(SENT.signature);
    const ended = confirmer.confirm(SENT);
    const subscription = await socketNode.next();
    subscription.accept(3);
    subscription.notify(3, { slot: 8, err: { InstructionError: [1, { Custom: 1 }] } });
    expect(await ended).toEqual({
      status: 'rejected',
      signature: SENT.signature,
      slot: 8,
      error: { name: '{"Custom":1}', code: null, instructionIndex: 1 },
    });
  });

  it('is polled when the notification is lost', async () => {
    void confirmer.expect(SENT.signature);
    (await socketNode.next()).accept(3);
    status = { slot: 7, err: null, confirmationStatus: 'confirmed' };
    expect(await confirmer.confirm(SENT)).toEqual(CONFIRMED);
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
    expect(await ended).toEqual(CONFIRMED);
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
    expect(await ended).toEqual(CONFIRMED);
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
