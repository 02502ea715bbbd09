import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { FatalError, NodeBehindError, RetryableError } from '../../indexer/source/errors.ts';
import { connectNode } from '../../indexer/source/node.ts';
import { getSlot, getTransaction } from '../../programs/client/rpc/methods.ts';
import { type RpcNode, startRpcNode } from '../client/rpcNode.ts';

// How a node is asked, and what counts as no answer, is shown for its client: tests/client/rpc.

let node: RpcNode;

beforeAll(async () => {
  node = await startRpcNode();
});

afterAll(() => node?.close());

const askSlot = () => getSlot(connectNode({ url: node.url }), { commitment: 'confirmed' });
const refusal = (code: number) => JSON.stringify({ error: { code, message: 'not now' } });

describe('a request to a node', () => {
  it('returns the answer', async () => {
    node.says = () => ({ body: '{"result": 42}' });
    expect(await askSlot()).toBe(42);
  });

  it('may return null', async () => {
    node.says = () => ({ body: '{"result": null, "error": null}' });
    const asked = { commitment: 'confirmed', maxSupportedTransactionVersion: 0 } as const;
    expect(await getTransaction(connectNode({ url: node.url }), 'any', asked)).toBeNull();
  });

  it.each([
    ['the status 400 of a proxy', { status: 400, body: '<html>Sorry</html>' }],
    ['the status 403', { status: 403, body: '{"message": "Forbidden"}' }],
    ['the status 429', { status: 429, body: '' }],
    ['the status 503', { status: 503, body: '' }],
    ['half of an answer', { body: '{"result": ' }],
    ['a list', { body: '[]' }],
    ['an error in words', { body: '{"error": "try later"}' }],
    ['an error without a code', { body: '{"error": {"message": "try later"}}' }],
    ['a lost history', { body: refusal(-32_011) }],
    ['an internal error', { body: refusal(-32_603) }],
    ['a limit of its provider', { body: refusal(429) }],
  ])('can be retried after %s', async (_name, answer) => {
    node.says = () => answer;
    await expect(askSlot()).rejects.toThrow(RetryableError);
  });

  it('reports a node that has not reached a slot as behind', async () => {
    node.says = () => ({ body: refusal(-32_016) });
    await expect(askSlot()).rejects.toThrow(NodeBehindError);
  });

  it.each([
    [-32_601, 200],
    [-32_602, 400],
  ])('is not retried when it is not understood (%i, status %i)', async (code, status) => {
    node.says = () => ({ status, body: refusal(code) });
    await expect(askSlot()).rejects.toThrow(FatalError);
  });
});
