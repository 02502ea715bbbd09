import { Writable } from 'node:stream';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { pino } from 'pino';
import { Registry } from 'prom-client';
import { createHeliusMetrics } from '../../../indexer/helius/metrics.ts';
import { createHeliusWebhook } from '../../../indexer/helius/webhook.ts';
import { until } from '../../../testing/until.ts';
import { API_KEY, type FakeHelius, startFakeHelius } from './fakeHelius.ts';
import { redirectHelius } from './redirectHelius.ts';

const MINUTE_MS = 60_000;
const DEVNET_GENESIS_HASH = 'EtWTRABZaYq6iMfeYKouRu166VU2xqa1wcaWoxPkrZBG';
const SECRET = 'a secret that only Helius and we know';
const WANTED = {
  webhookURL: 'https://indexer.example/helius',
  webhookType: 'raw',
  authHeader: SECRET,
  accountAddresses: ['the program'],
  transactionTypes: ['ANY'],
  txnStatus: 'success',
};
const AS_IT_IS = { ...WANTED, webhookID: 'ours', wallet: 'a wallet', active: true };
const OF_OTHERS = { ...AS_IT_IS, webhookID: 'theirs', webhookURL: 'https://elsewhere.example' };

let helius: FakeHelius;
let registry: Registry;
let logged: string;
let nowMs: number;
let takeBack: () => void;
let stop: () => Promise<void>;

beforeEach(async () => {
  helius = await startFakeHelius({});
  takeBack = redirectHelius(helius.origin);
  registry = new Registry();
  logged = '';
  nowMs = 0;
  stop = async () => {};
});

afterEach(async () => {
  await stop();
  takeBack();
  helius.close();
});

function start(genesisHash = 'of the main network') {
  const log = new Writable({
    write(chunk, _encoding, done) {
      logged += chunk;
      done();
    },
  });
  const webhook = createHeliusWebhook({
    apiKey: API_KEY,
    url: WANTED.webhookURL,
    secret: SECRET,
    programId: 'the program',
    genesisHash: async () => genesisHash,
    logger: pino(log),
    metrics: createHeliusMetrics(registry),
    nowMs: () => nowMs,
  });
  const stopping = new AbortController();
  const running = webhook.run(stopping.signal);
  stop = async () => {
    stopping.abort();
    await running;
  };
  return webhook;
}

async function untilChecked(result: string, times = 1): Promise<void> {
  const line = `svc_helius_webhook_checks_total{result="${result}"} ${times}`;
  await until(async () => (await registry.metrics()).includes(line));
}

describe('the webhook at Helius', () => {
  it('is made where there is none', async () => {
    helius.webhooks = [{ ...OF_OTHERS }];
    start();
    await untilChecked('created');
    expect(helius.webhooks).toEqual([OF_OTHERS, expect.objectContaining(WANTED)]);
  });

  it('watches the test network where the ledger is that', async () => {
    start(DEVNET_GENESIS_HASH);
    await untilChecked('created');
    expect(helius.webhooks[0]?.webhookType).toBe('rawDevnet');
  });

  it('is left alone when it is as it must be', async () => {
    helius.webhooks = [{ ...AS_IT_IS }];
    start();
    await untilChecked('kept');
    expect(helius.changes).toEqual([]);
  });

  for (const [what, difference] of Object.entries({
    type: { webhookType: 'enhanced' },
    'authorization header': { authHeader: 'the secret of last year' },
    addresses: { accountAddresses: ['the program', 'another program'] },
  })) {
    it(`is corrected when its ${what} differs`, async () => {
      helius.webhooks = [{ ...AS_IT_IS, ...difference }];
      start();
      await untilChecked('corrected');
      expect(helius.webhooks).toEqual([AS_IT_IS]);
      expect(helius.changes).toEqual(['PUT']);
    });
  }

  it('is turned on again when Helius has turned it off', async () => {
    helius.webhooks = [{ ...AS_IT_IS, active: false }];
    start();
    await untilChecked('enabled');
    expect(helius.webhooks).toEqual([AS_IT_IS]);
  });

  it('is the only one of its URL afterwards, and those of other URLs are not touched', async () => {
    const surplus = ['2', '3'].map((webhookID) => ({ ...AS_IT_IS, webhookID }));
    helius.webhooks = [{ ...OF_OTHERS }, { ...AS_IT_IS }, ...surplus];
    start();
    await untilChecked('corrected');
    expect(helius.webhooks).toEqual([OF_OTHERS, AS_IT_IS]);
  });

  it('is asked for again after an error, and no secret is logged', async () => {
    const body = { error: `refused ${SECRET} of ${API_KEY}` };
    helius.failures = [{ status: 500, body }];
    start();
    await untilChecked('failed');
    expect(logged).toContain('refused [redacted] of [redacted]');
    await untilChecked('created');
    expect(logged).not.toContain(SECRET);
    expect(logged).not.toContain(API_KEY);
  });
});

describe('the upkeep of the webhook', () => {
  it('ends when it is told to, though Helius does not answer', async () => {
    helius.failures = [{ status: 0, body: null }];
    start();
    await until(async () => helius.failures.length === 0);
    await stop();
    expect(logged).toBe('');
  });
});

describe('a webhook that is silent about what sweeps find', () => {
  it('is checked at once', async () => {
    helius.webhooks = [{ ...AS_IT_IS }];
    const { found } = start();
    await untilChecked('kept');
    helius.webhooks = [];
    for (const minute of [1, 2]) {
      nowMs = minute * MINUTE_MS;
      found();
    }
    await untilChecked('created');
    expect(logged).toContain('had not announced');
  });

  it('is made anew though it is as it must be, once an hour at most', async () => {
    helius.webhooks = [{ ...AS_IT_IS }];
    const { found } = start();
    await untilChecked('kept');
    for (const minute of [1, 2]) {
      nowMs = minute * MINUTE_MS;
      found();
    }
    await untilChecked('replaced');
    expect(helius.changes).toEqual(['DELETE', 'POST']);
    for (const minute of [3, 4]) {
      nowMs = minute * MINUTE_MS;
      found();
    }
    await untilChecked('kept', 2);
    for (const minute of [63, 64]) {
      nowMs = minute * MINUTE_MS;
      found();
    }
    await untilChecked('replaced', 2);
  });

  it('is not silent while its hints come', async () => {
    helius.webhooks = [{ ...AS_IT_IS }];
    const { announced, found } = start();
    await untilChecked('kept');
    for (let minute = 1; minute < 100; minute += 1) {
      nowMs = minute * MINUTE_MS;
      found();
      announced();
    }
    await stop();
    expect(logged).toBe('');
    expect(await registry.metrics()).toContain('{result="kept"} 1');
  });
});
