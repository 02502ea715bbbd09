import { EventEmitter } from 'node:events';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { beforeEach, describe, expect, it } from '@jest/globals';
import { type ChangeStreams, createChangeStreams } from '../../../api/console/stream/changes.ts';
import { createLogger } from '../../../common/logger.ts';
import type { Database } from '../../../common/postgres.ts';
import { createMovableTime, type MovableTime } from '../../../testing/movableTime.ts';

// What a whole service cannot be made to do at will: which reading of the database ends first, and
// how many there are.

const TURN_MS = 1_000;
let streams: ChangeStreams;
let time: MovableTime;
/** By wallet, what it has. */
let credits: Map<string, bigint>;
/** The wallets whose jobs a reading of the changes finds, one each. */
let changedWallets: string[];
/** The statements since the last turn. */
let statements: string[];
/** Where a test holds them, ends a reading of balances, which shows what was there at its beginning. */
let held: (() => void)[] | undefined;
let reportChanges: (addresses: readonly string[]) => void;

beforeEach(() => {
  time = createMovableTime();
  time.hold();
  credits = new Map();
  changedWallets = [];
  statements = [];
  held = undefined;
  streams = createChangeStreams({
    database: { query } as unknown as Database,
    openStreams: { admit() {} },
    watch: {
      onChanges(listener) {
        reportChanges = listener;
        return () => {};
      },
    },
    logger: createLogger({ name: 'test', level: 'silent' }),
    nowSeconds: () => 0n,
    time,
  });
});

type Statement = string | { name: string; values: [wallets: string[]] };

async function query(statement: Statement) {
  if (typeof statement === 'string') {
    const isChanges = statement.includes('from mirror.jobs');
    statements.push(isChanges ? 'changed jobs' : 'timings');
    return { rows: isChanges ? changedWallets.map(jobOf) : [] };
  }
  statements.push(statement.name);
  const rows = statement.values[0].flatMap((wallet) => {
    const available_credits = credits.get(wallet) ?? 0n;
    return { wallet, available_credits, locked_credits: 0n, sequence: 1_000n - available_credits };
  });
  if (held) await new Promise<void>((end) => held?.push(end));
  return { rows };
}

function jobOf(wallet: string) {
  const none = ['worker', 'output_hash', 'prompt_tokens', 'client_hash', 'ended_at', 'settled_at'];
  const later = [
    'acknowledged_at',
    'proven_at',
    'resolved_at',
    'escrow_tx',
    'settlement_tx',
    'refund_tx',
  ];
  return {
    ...Object.fromEntries([...none, ...later].map((column) => [column, null])),
    ...{ wallet, address: `job of ${wallet}`, job_id: `job of ${wallet}`, status: 'pending' },
    ...{ charged_credits: 0n, locked_credits: 8n, locked_at: 0n, escrow_slot: 0n },
    ...{ credits_per_request: 8n, credits_per_1k_tokens: 4n, job_timeout_seconds: 120 },
    long_completion_threshold_tokens: 500n,
  };
}

/** Opens a stream. @returns what it receives, as it comes */
async function open(wallet: string) {
  const received: string[] = [];
  const response = Object.assign(new EventEmitter(), {
    ...{ writableEnded: false, destroyed: false, set: () => response },
    write(text: string) {
      if (response.writableEnded) throw new Error('write after end');
      received.push(text);
    },
    end() {
      response.writableEnded = true;
      response.emit('close');
    },
  });
  const stream = { wallet, sessionId: 'a session', address: 'an address', resumeAfter: undefined };
  const opening = streams.open(stream, response as never);
  if (!held) await opening;
  return { received, balances: () => received.join().match(/"available_credits":\d+/g) ?? [] };
}

/** Ends readings, the last begun first, until none runs. */
async function endReadings(): Promise<void> {
  await nextTurn();
  for (let end = held?.pop(); end; end = held?.pop()) {
    end();
    await nextTurn();
  }
}

/** @returns the statements of one turn */
async function takeTurn(): Promise<string[]> {
  statements = [];
  time.advance(TURN_MS);
  await nextTurn();
  return statements;
}

describe('the stream of a wallet', () => {
  const WALLET = 'a wallet';

  it('is not written to once it has ended, while something is read for it', async () => {
    held = [];
    const { received } = await open(WALLET);
    await nextTurn();
    streams.close();
    await endReadings();
    expect(received).toEqual(['retry: 2000\n\n']);
  });

  it('ends with the balance that was read last, whichever reading took longer', async () => {
    credits.set(WALLET, 100n);
    const first = await open(WALLET);
    held = [];
    await takeTurn();
    expect(held).toHaveLength(1);
    credits.set(WALLET, 92n);
    const second = await open(WALLET);
    await endReadings();
    expect(first.balances().at(-1)).toBe('"available_credits":100');
    expect(second.balances().at(-1)).toBe('"available_credits":92');
  });
});

describe('the streams of many wallets', () => {
  const WALLETS = Array.from({ length: 40 }, (_, index) => `wallet ${index}`);
  const STREAMS_EACH = 5;

  async function openAll() {
    const opened = new Map<string, Awaited<ReturnType<typeof open>>[]>();
    for (const wallet of WALLETS) {
      const own = await Promise.all(Array.from({ length: STREAMS_EACH }, () => open(wallet)));
      opened.set(wallet, own);
    }
    const countReceived = () =>
      WALLETS.map((wallet) => opened.get(wallet)?.map(({ received }) => received.length) ?? []);
    return { opened, countReceived };
  }

  it('cost one statement a turn while nothing changes, and nothing is written', async () => {
    const { countReceived } = await openAll();
    const before = countReceived();
    expect(await takeTurn()).toEqual(['console-balances']);
    expect(countReceived()).toEqual(before);
  });

  it('cost three statements for any number of changes, each to its wallet', async () => {
    const { opened, countReceived } = await openAll();
    const before = countReceived();
    changedWallets = WALLETS.slice(0, 10);
    credits.set('wallet 20', 7n);
    reportChanges(changedWallets.map((wallet) => `job of ${wallet}`));

    const turn = await takeTurn();

    expect(turn).toEqual(['changed jobs', 'console-balances', 'timings']);
    const isChanged = (place: number) => place < 10 || place === 20;
    const expected = before.map((counts, place) =>
      counts.map((count) => (isChanged(place) ? count + 1 : count)),
    );
    expect(countReceived()).toEqual(expected);
    const last = (wallet: string) => opened.get(wallet)?.at(-1)?.received.at(-1);
    expect(last('wallet 3')).toContain('"id":"job of wallet 3"');
    expect(last('wallet 3')).not.toContain('job of wallet 4');
    expect(last('wallet 20')).toContain('"jobs":[],"available_credits":7');
  });
});
