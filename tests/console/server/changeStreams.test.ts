import { once } from 'node:events';
import http, { type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text as readText } from 'node:stream/consumers';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { type ChangeStreams, createChangeStreams } from '../../../api/console/stream/changes.ts';
import { createLogger } from '../../../common/logger.ts';
import type { Database } from '../../../common/postgres.ts';

// What a whole service cannot be made to do at will: which reading of the database ends first.

const WALLET = 'a wallet';
const TURN_MS = 1_000;
let streams: ChangeStreams;
let server: http.Server;
/** What the wallet has. */
let availableCredits: bigint;
/** Ends a reading of the balance, which tells what the wallet had at its beginning: oldest first. */
let readings: (() => void)[];
/** Of responses: what nobody hears would end the process. */
let errors: Error[];

beforeEach(async () => {
  availableCredits = 100n;
  readings = [];
  errors = [];
  jest.useFakeTimers({ doNotFake: ['nextTick', 'setImmediate', 'queueMicrotask'] });
  const query = async ({ name }: { name?: string }) => {
    const balance = { available_credits: availableCredits, locked_credits: 0n };
    const row = { wallet: WALLET, ...balance, sequence: 1_000n - availableCredits };
    if (name === 'console-balances') await new Promise<void>((end) => readings.push(end));
    return { rows: [row] };
  };
  streams = createChangeStreams({
    database: { query } as unknown as Database,
    watch: { onChanges: () => () => true },
    logger: createLogger({ name: 'test', level: 'silent' }),
    nowSeconds: () => 0n,
  });
  server = http.createServer((_request, response) => {
    response.on('error', (error) => errors.push(error));
    const listener = { wallet: WALLET, sessionId: 'a session', resumeAfter: undefined };
    void streams.open(listener, Object.assign(response, { set: () => response }) as never);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
});

afterEach(() => {
  streams.close();
  server.close();
  jest.useRealTimers();
});

/** Opens a stream, which begins to read the balance unless it waits. @returns all that it is told */
async function open(): Promise<{ told: Promise<string> }> {
  const { port } = server.address() as AddressInfo;
  const [response] = (await once(http.get({ port }), 'response')) as [IncomingMessage];
  return { told: readText(response) };
}

/** Ends readings, the last begun first, until none is under way. */
async function endReadings(): Promise<void> {
  for (let end = readings.pop(); end; end = readings.pop()) {
    end();
    await nextTurn();
  }
}

describe('the stream of a wallet', () => {
  it('is not written to once it has ended, whatever is being read for it', async () => {
    const { told } = await open();
    streams.close();
    await endReadings();
    expect(await told).toBe('retry: 2000\n\n');
    expect(errors).toEqual([]);
  });

  it('ends with the balance that was read last, whichever reading took longer', async () => {
    const first = await open();
    await endReadings();
    jest.advanceTimersByTime(TURN_MS);
    await nextTurn();
    expect(readings).toHaveLength(1);
    availableCredits = 92n;
    const second = await open();
    await endReadings();
    streams.close();
    expect(await first.told).toMatch(/"available_credits":100,[^}]*}\n\n$/);
    expect(await second.told).toMatch(/"available_credits":92,[^}]*}\n\n$/);
  });
});
