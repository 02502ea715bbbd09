import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import {
  Keypair,
  PublicKey,
  SystemProgram,
  TransactionMessage,
  VersionedTransaction,
} from '@solana/web3.js';
import { startDevelopmentWallet } from '../../stack/console/developmentWallet.ts';

const ORIGIN = 'http://127.0.0.1:8080';
const keypair = Keypair.generate();
const address = keypair.publicKey.toBase58();
let wallet: Awaited<ReturnType<typeof startDevelopmentWallet>>;

beforeAll(async () => {
  wallet = await startDevelopmentWallet([{ name: 'wallet', keypair }]);
});

afterAll(() => wallet.close());

// biome-ignore lint/suspicious/noExplicitAny: bodies are compared as a whole by the tests
type Answer = { status: number; body: any; headers: Headers };

async function ask(
  path: string,
  body?: unknown,
  headers: Record<string, string> = { origin: ORIGIN },
): Promise<Answer> {
  const response = await fetch(`${wallet.url}${path}`, {
    headers,
    ...(body !== undefined && { method: 'POST', body: JSON.stringify(body) }),
  });
  return { status: response.status, body: await response.json(), headers: response.headers };
}

const message = Buffer.from('a text');
const request = { address, kind: 'message', bytes: message.toString('base64') };

describe('the development wallet', () => {
  it('refuses to sign before the API has an address', async () => {
    expect((await ask('/sign', request)).status).toBe(403);
    wallet.serveFor(`${ORIGIN}/`);
    expect((await ask('/accounts')).body).toEqual({ accounts: [{ name: 'wallet', address }] });
  });

  it.each([
    ['another origin', { origin: 'http://127.0.0.1:8081' }],
    ['localhost by its name', { origin: 'http://localhost:8080' }],
    ['an opaque origin', { origin: 'null' }],
    ['no origin', {}],
  ])('refuses %s', async (_name, headers) => {
    const { status, headers: answered } = await ask('/sign', request, headers);

    expect(status).toBe(403);
    expect(answered.get('access-control-allow-origin')).toBeNull();
  });

  it('signs a transaction beside the signatures that it has', async () => {
    const other = Keypair.generate();
    const payerKey = other.publicKey;
    const transfer = { fromPubkey: keypair.publicKey, toPubkey: payerKey, lamports: 1 };
    const transaction = new VersionedTransaction(
      new TransactionMessage({
        payerKey,
        recentBlockhash: PublicKey.default.toBase58(),
        instructions: [SystemProgram.transfer(transfer)],
      }).compileToV0Message(),
    );
    transaction.sign([other]);
    const bytes = Buffer.from(transaction.serialize()).toString('base64');
    const { body } = await ask('/sign', { address, kind: 'transaction', bytes });
    const signed = VersionedTransaction.deserialize(Buffer.from(body.signed, 'base64'));
    transaction.sign([keypair]);
    expect(signed.signatures).toEqual(transaction.signatures);
  });

  it.each([
    [404, { ...request, address: Keypair.generate().publicKey.toBase58() }],
    [400, { ...request, kind: 'everything' }],
    [400, { ...request, kind: 'transaction' }],
    [413, { ...request, bytes: 'A'.repeat(40_000) }],
  ])('answers %i where there is nothing to sign', async (status, body) => {
    expect((await ask('/sign', body)).status).toBe(status);
  });
});
