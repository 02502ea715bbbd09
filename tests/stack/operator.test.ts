import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { base58 } from '@scure/base';
import { Keypair, SystemProgram, VersionedTransaction } from '@solana/web3.js';
import { type Operator, submit } from '../../stack/operator.ts';
import {
  accepted,
  type Forward,
  type RpcRequest,
} from '../../testing/ledger/interceptedConnection.ts';
import { advanceSeconds, startLedger, type TestLedger } from '../../testing/ledger/ledger.ts';
import { interceptedRpc } from '../client/interceptedRpc.ts';

/** Longer than a blockhash lives. */
const STANDSTILL_SECONDS = 10;
const LAMPORTS = 1_000_000;

let ledger: TestLedger;

beforeAll(async () => {
  ledger = await startLedger();
});

afterAll(() => ledger.close());

const stand = () => advanceSeconds(ledger.connection, STANDSTILL_SECONDS);

/** As a node that takes a transaction answers. */
function acceptedAs(request: RpcRequest): object {
  const bytes = Buffer.from(String(request.params[0]), 'base64');
  const [signature] = VersionedTransaction.deserialize(bytes).signatures;
  return { ...accepted(request), result: base58.encode(signature ?? new Uint8Array()) };
}

/** Pays somebody through this node. @returns what the payee has then */
async function pay(intercept: (request: RpcRequest, forward: Forward) => Promise<object>) {
  const rpc = interceptedRpc(ledger.rpcUrl, intercept);
  const operator: Operator = { rpc, authority: ledger.payer };
  const { publicKey: toPubkey } = Keypair.generate();
  const fromPubkey = ledger.payer.publicKey;
  await submit(operator, [SystemProgram.transfer({ fromPubkey, toPubkey, lamports: LAMPORTS })]);
  return ledger.connection.getBalance(toPubkey, 'confirmed');
}

describe("an operator's transaction whose blockhash expires", () => {
  it('before it is sent is signed again', async () => {
    let blockhashes = 0;
    const paid = await pay(async (request, forward) => {
      const answer = await forward(request);
      if (request.method === 'getLatestBlockhash' && ++blockhashes === 1) await stand();
      return answer;
    });
    expect(paid).toBe(LAMPORTS);
    expect(blockhashes).toBe(2);
  });

  /** As often as it is sent, a node accepts it and drops it, by a time at which it is dead. */
  const losing = (times: number) => {
    const sent = { times: 0 };
    const node = async (request: RpcRequest, forward: Forward) => {
      if (request.method !== 'sendTransaction' || ++sent.times > times) return forward(request);
      await stand();
      return acceptedAs(request);
    };
    return { sent, node };
  };

  it('before it lands is signed again', async () => {
    const { sent, node } = losing(1);
    expect([await pay(node), sent.times]).toEqual([LAMPORTS, 2]);
  });

  it('is given up when that happens again and again', async () => {
    const never = pay(losing(Number.POSITIVE_INFINITY).node);
    await expect(never).rejects.toThrow('The ledger dropped it 3 times. Try again.');
  });

  it('after it landed is sent once, however late that is found', async () => {
    let sendings = 0;
    const paid = await pay(async (request, forward) => {
      const answer = await forward(request);
      if (request.method !== 'sendTransaction') return answer;
      sendings += 1;
      await stand();
      return answer;
    });
    expect([paid, sendings]).toEqual([LAMPORTS, 1]);
  });
});
