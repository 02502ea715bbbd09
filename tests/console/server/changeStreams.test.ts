import { EventEmitter } from 'node:events';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { beforeEach, describe, expect, it } from '@jest/globals';
import { type ChangeStreams, createChangeStreams } from '../../../api/stream/changes.ts';
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
/** The statements since the last turn. */
let statements: string[];
/** Where a test holds them, ends a reading of balances, which shows what was there at its beginning. */
let held: (() => void)[] | undefined;

beforeEach(() => {
  time = createMovableTime();
  time.hold();
  credits = new Map();
  statements = [];
  held = undefined;
  streams = createChangeStreams({
    database: { query } as unknown as Database,
    openStreams: { admit() {} },
    watch: { onChanges: () => () => {} },
    logger: createLogger({ name: 'test', level: 'silent' }),
    nowSeconds: () => 0n,
    time,
  });
});

async function query(statement: { name: string; values: [wallets: string[]] }) {
  statements.push(statement.name);
  const rows = statement.values[0].flatMap((wallet) => {
    const available_credits = credits.get(wallet) ?? 0n;
    return { wallet, available_credits, locked_credits: 0n, sequence: 1_000n - available_credits };
  });
  if (held) await new Promise<void>((end) => held?.push(end));
  return { rows };
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

  it('cost one statement a turn, and get what is of their own wallet alone', async () => {
    const opened = await Promise.all(WALLETS.flatMap((wallet) => [open(wallet), open(wallet)]));
    const countReceived = () => opened.map(({ received }) => received.length);
    const before = countReceived();
    expect(await takeTurn()).toEqual(['console-balances']);
    expect(countReceived()).toEqual(before);

    credits.set('wallet 20', 7n);
    await takeTurn();

    const isChanged = (place: number) => place === 40 || place === 41;
    expect(countReceived()).toEqual(
      before.map((count, place) => (isChanged(place) ? count + 1 : count)),
    );
    expect(opened[40]?.received.at(-1)).toContain('"jobs":[],"available_credits":7');
  });
});
