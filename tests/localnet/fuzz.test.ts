import { once } from 'node:events';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { base58 } from '@scure/base';
import { Keypair, SystemProgram, Transaction } from '@solana/web3.js';
import WebSocket from 'ws';
import { METHODS } from '../../localnet/rpc/answer.ts';
import { type StartedProcess, startProcess } from '../../testing/childProcess.ts';
import { callLedger } from '../../testing/ledger/ledger.ts';
import { createRandom } from '../../testing/random.ts';
import { plausibleParams } from './fuzz/plausible.ts';
import { mutatedTransaction, noisyTransaction, type Signing } from './fuzz/transactions.ts';
import { type Known, mutateValue, pick } from './fuzz/values.ts';

/** `npm run test:long -- fuzz --cases 40000` sets it: so many calls, and so many transactions. */
const CASES = Number(process.env.LOCALNET_FUZZ ?? 2_000);
const BATCH = 100;
const INTERNAL_ERROR = -32603;
const SUBSCRIBING = ['account', 'program', 'logs', 'signature', 'slot', 'root'].map(
  (kind) => `${kind}Subscribe`,
);
const PROGRAMS = [
  '11111111111111111111111111111111',
  'TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA',
  'TokenzQdBNbLqP5VEhdkAS6EPFLC1PHnBqCXEpPxuEb',
  'ATokenGPvbdGVxr1b2hvZbsiqW5xWH25efTNsLJA8knL',
  'MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr',
  'AddressLookupTab1e1111111111111111111111111',
  'BPFLoaderUpgradeab1e11111111111111111111111',
  'ComputeBudget111111111111111111111111111111',
  'Stake11111111111111111111111111111111111111',
  'Vote111111111111111111111111111111111111111',
  'Ed25519SigVerify111111111111111111111111111',
  'SysvarC1ock11111111111111111111111111111111',
  'SysvarS1otHashes111111111111111111111111111',
];

const random = createRandom();
const payer = Keypair.generate();
let ledger: StartedProcess;
let known: Known;
beforeAll(async () => {
  ledger = await startProcess('localnet/main.ts', {
    LOCALNET_PAYER_KEY: base58.encode(payer.secretKey),
    LOCALNET_DEVELOPMENT: 'true',
  });
  known = await getToKnow();
});
afterAll(() => ledger?.kill());

const ask = <Result>(method: string, ...params: unknown[]) =>
  callLedger<Result>(ledger.url, method, params);

async function newBlockhash(): Promise<string> {
  const { value } = await ask<{ value: { blockhash: string } }>('getLatestBlockhash', {
    commitment: 'confirmed',
  });
  return value.blockhash;
}

/** A few transfers, so that there is something to ask for. */
async function getToKnow(): Promise<Known> {
  const to = Array.from({ length: 5 }, () => Keypair.generate().publicKey);
  const blockhash = await newBlockhash();
  const made = to.map((toPubkey) => {
    const { publicKey: fromPubkey } = payer;
    const transaction = new Transaction().add(
      SystemProgram.transfer({ fromPubkey, toPubkey, lamports: 5_000_000 }),
    );
    transaction.feePayer = payer.publicKey;
    transaction.recentBlockhash = blockhash;
    transaction.sign(payer);
    return transaction;
  });
  const transactions = made.map((one) => one.serialize().toString('base64'));
  const signatures = await Promise.all(
    transactions.map((one) => ask<string>('sendTransaction', one, { encoding: 'base64' })),
  );
  const slot = await ask<number>('getSlot', { commitment: 'confirmed' });
  return {
    signatures,
    transactions,
    blockhashes: [blockhash, PROGRAMS[0] as string],
    addresses: [payer.publicKey.toBase58(), ...to.map(String), ...PROGRAMS],
    messages: made.map((one) => one.serializeMessage().toString('base64')),
    slots: [0, 1, slot - 1, slot, slot + 100],
  };
}

interface Call {
  method: string;
  params: unknown;
}

interface Answer {
  error?: { code: number; message: string };
}

function nextCall(methods: readonly string[]): Call {
  const method = pick(random, methods);
  let params: unknown = plausibleParams(random, known, method);
  for (let times = random.below(3); times > 0; times -= 1) {
    params = mutateValue(random, known, params);
  }
  return { method, params };
}

/** @throws Error with the calls that were open when the ledger ended */
async function answerAll(calls: readonly Call[]): Promise<Answer[]> {
  const body = JSON.stringify(calls.map((call, id) => ({ jsonrpc: '2.0', id, ...call })));
  try {
    const response = await fetch(ledger.url, { method: 'POST', body });
    return (await response.json()) as Answer[];
  } catch (cause) {
    throw new Error(`the ledger ended at one of ${body}`, { cause });
  }
}

/** @returns how many were answered with a result */
async function expectAnswered(count: number, next: () => Call): Promise<number> {
  let succeeded = 0;
  for (let done = 0; done < count; done += BATCH) {
    const calls = Array.from({ length: Math.min(BATCH, count - done) }, next);
    const answers = await answerAll(calls);
    expect(answers).toHaveLength(calls.length);
    const faults = answers.flatMap(({ error }, index) =>
      error?.code === INTERNAL_ERROR && !error.message.startsWith('The airdrop failed')
        ? [{ error, call: calls[index] }]
        : [],
    );
    expect(faults).toEqual([]);
    succeeded += answers.filter(({ error }) => !error).length;
  }
  expect(await ask('getHealth')).toBe('ok');
  return succeeded;
}

describe(`a ledger under random requests (seed ${random.seed}, ${CASES} cases)`, () => {
  const timeoutMs = 60_000 + 20 * CASES;

  /** New blockhashes now and then, since old ones die. */
  async function expectTransactionsAnswered(
    make: (signing: Signing) => Uint8Array,
  ): Promise<number> {
    let succeeded = 0;
    for (let done = 0; done < CASES / 2; done += BATCH) {
      const { addresses } = known;
      const signing = { payer, addresses, blockhash: await newBlockhash() };
      succeeded += await expectAnswered(Math.min(BATCH, CASES / 2 - done), () => {
        const text = Buffer.from(make(signing)).toString('base64');
        const isSent = random.below(2) === 0;
        const config = isSent
          ? { skipPreflight: random.below(2) === 0 }
          : { innerInstructions: true };
        return {
          method: isSent ? 'sendTransaction' : 'simulateTransaction',
          params: [text, { encoding: 'base64', ...config }],
        };
      });
    }
    return succeeded;
  }

  it(
    'executes or refuses random transactions',
    async () => {
      const succeeded = await expectTransactionsAnswered((signing) =>
        random.below(5) === 0
          ? random.bytes(random.below(1_400))
          : noisyTransaction(random, signing),
      );
      expect(succeeded).toBeGreaterThan(CASES / 20);
    },
    timeoutMs,
  );

  it(
    'executes or refuses mutated transactions',
    async () => {
      let made = 0;
      const succeeded = await expectTransactionsAnswered((signing) => {
        made += 1;
        // So many stay whole that enough are executed, even where no other is.
        return made % 10 === 0
          ? noisyTransaction(random, signing)
          : mutatedTransaction(random, signing);
      });
      expect(succeeded).toBeGreaterThan(CASES / 40);
    },
    timeoutMs,
  );

  it(
    'answers every call over a websocket',
    async () => {
      const client = new WebSocket(ledger.url.replace('http', 'ws'));
      await once(client, 'open');
      const answered = new Set<unknown>();
      const all = Promise.withResolvers<void>();
      const count = Math.ceil(CASES / 4);
      client.on('message', (data) => {
        const { id } = JSON.parse(String(data)) as { id?: unknown };
        if (typeof id === 'number') answered.add(id);
        if (answered.size === count) all.resolve();
      });
      client.on('close', () => all.reject(new Error('the ledger hung up')));
      for (let id = 0; id < count; id += 1) {
        client.send(JSON.stringify({ jsonrpc: '2.0', id, ...nextCall(SUBSCRIBING) }));
      }
      await all.promise;
      const methods = ['sendTransaction', 'requestAirdrop', 'localnet_setAccount'];
      await expectAnswered(BATCH, () => nextCall(methods));
      client.removeAllListeners('close');
      client.terminate();
    },
    timeoutMs,
  );

  it(
    'answers every call of every method and still runs afterwards',
    async () => {
      const succeeded = await expectAnswered(CASES, () => nextCall([...METHODS.keys()]));
      expect(succeeded).toBeGreaterThan(CASES / 5);
    },
    timeoutMs,
  );
});
