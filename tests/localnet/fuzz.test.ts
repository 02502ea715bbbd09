import { once } from 'node:events';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { base58 } from '@scure/base';
import { Keypair } from '@solana/web3.js';
import WebSocket from 'ws';
import { METHODS } from '../../localnet/rpc/answer.ts';
import { type StartedProcess, startProcess } from '../../testing/childProcess.ts';
import { callLedger } from '../../testing/ledger/ledger.ts';
import { createRandom } from '../../testing/random.ts';
import { CALLS } from './contract/calls.ts';
import { newKeys, openScene } from './contract/scene.ts';
import { mutatedTransaction, noisyTransaction, type Signing } from './fuzz/transactions.ts';
import { anyValue, callsOfOurs, type Known, mutateValue, PROGRAMS, pick } from './fuzz/values.ts';

/** `npm run test:long -- fuzz --cases 40000` sets it: so many calls, and so many transactions. */
const CASES = Number(process.env.LOCALNET_FUZZ ?? 2_000);
const BATCH = 100;
const INTERNAL_ERROR = -32603;
const SUBSCRIBING = ['account', 'program', 'logs', 'signature', 'slot', 'root'].map(
  (kind) => `${kind}Subscribe`,
);
const ADDRESSES = [
  ...PROGRAMS,
  'ComputeBudget111111111111111111111111111111',
  'SysvarC1ock11111111111111111111111111111111',
  'SysvarS1otHashes111111111111111111111111111',
];

const random = createRandom();
const payer = Keypair.generate();
let ledger: StartedProcess;
let known: Known;
/** What may well be asked; other methods are asked with a commitment. */
let plausible: readonly Call[];
beforeAll(async () => {
  ledger = await startProcess('localnet/main.ts', {
    LOCALNET_PAYER_KEY: base58.encode(payer.secretKey),
    LOCALNET_DEVELOPMENT: 'true',
  });
  const scene = await openScene({ rpcUrl: ledger.url }, newKeys());
  const asked = await Promise.all(
    CALLS.map(async ({ method, params }) => ({ method, params: await params(scene) })),
  );
  const first = (name: string) =>
    asked.filter(({ method }) => method === name).map(({ params }) => String(params[0]));
  const { to, mint, tokens, absent, transfer, made, failed, transferSlot: slot } = scene;
  known = {
    addresses: [payer.publicKey, to, mint, tokens, absent].map(String).concat(ADDRESSES),
    signatures: [transfer, made, failed],
    transactions: first('sendTransaction'),
    messages: first('getFeeForMessage'),
    blockhashes: first('isBlockhashValid'),
    slots: [0, 1, slot - 1, slot, slot + 100],
  };
  plausible = [...asked, ...callsOfOurs(known)];
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

interface Call {
  method: string;
  params: unknown;
}

interface Answer {
  error?: { code: number; message: string };
}

function nextCall(methods: readonly string[]): Call {
  const method = pick(random, methods);
  const calls = plausible.filter((call) => call.method === method);
  let { params } =
    calls.length > 0 ? pick(random, calls) : { params: [{ commitment: 'confirmed' }] };
  if (random.below(10) === 0) params = anyValue(random, known);
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

  it.each<[string, (signing: Signing, made: number) => Uint8Array, number]>([
    [
      'random',
      (signing) =>
        random.below(5) === 0
          ? random.bytes(random.below(1_400))
          : noisyTransaction(random, signing),
      CASES / 20,
    ],
    [
      'mutated',
      // So many stay whole that enough are executed, even where no other is.
      (signing, made) =>
        made % 10 === 0 ? noisyTransaction(random, signing) : mutatedTransaction(random, signing),
      CASES / 40,
    ],
  ])(
    'executes or refuses %s transactions',
    async (_kind, make, executedMin) => {
      let made = 0;
      const succeeded = await expectTransactionsAnswered((signing) => make(signing, ++made));
      expect(succeeded).toBeGreaterThan(executedMin);
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
