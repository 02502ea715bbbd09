import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { afterEach, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { createLogger } from '../../common/logger.ts';
import {
  createLedgerHints,
  createLogSubscription,
  createStreamWatchdog,
  type LogSubscription,
} from '../../indexer/source/hints.ts';
import { PROGRAM_ID } from '../../programs/client/index.ts';
import { atEnd, ownScene } from '../../testing/indexer/own.ts';
import { until } from '../../testing/until.ts';

const scene = await ownScene();
let hints: LogSubscription;
let hinted = 0;

/** Stands between the indexer and the ledger's websocket. */
const connections: Socket[] = [];
const wire = createServer((socket) => {
  const ledger = connect(Number(new URL(scene.ledger.wsUrl).port), '127.0.0.1');
  socket.pipe(ledger).pipe(socket);
  for (const end of [socket, ledger]) end.on('error', () => end.destroy());
  socket.on('close', () => ledger.destroy());
  ledger.on('close', () => socket.destroy());
  connections.push(socket);
});

beforeAll(async () => {
  wire.listen(0, '127.0.0.1');
  await once(wire, 'listening');
  hints = createLogSubscription({
    url: `ws://127.0.0.1:${(wire.address() as AddressInfo).port}`,
    programId: PROGRAM_ID,
    commitment: 'confirmed',
    logger: createLogger({ name: 'test', level: 'silent' }),
    onHint: () => {
      hinted += 1;
    },
    reopenMs: 20,
  });
  await until(async () => hinted > 0);
});

afterEach(() => {
  jest.useRealTimers();
  jest.restoreAllMocks();
});

atEnd(async () => {
  hints?.close();
  for (const socket of connections) socket.destroy();
  wire.close();
});

/** The ledger answers a subscription before it heeds it, so it may leave the next ones out. */
async function expectHint(): Promise<void> {
  const before = hinted;
  await until(async () => {
    await scene.lock();
    return hinted > before;
  });
}

async function untilReopened(opened: number): Promise<void> {
  const before = hinted;
  await until(async () => connections.length > opened && hinted > before);
}

describe('the log subscription', () => {
  it('reports a transaction of the program', async () => {
    await expectHint();
  });

  it('reconnects after it broke', async () => {
    const opened = connections.length;
    connections.at(-1)?.destroy();
    await untilReopened(opened);
    await expectHint();
  });

  it('reconnects when it missed what sweeps found for a minute', async () => {
    const opened = connections.length;
    const startMs = performance.now();
    const clock = jest.spyOn(performance, 'now');
    for (const seconds of [61, 120]) {
      clock.mockReturnValue(startMs + seconds * 1_000);
      hints.found();
    }
    expect(connections.length).toBe(opened);
    // Two seconds later, since a difference of fractions may fall short of what it should be.
    clock.mockReturnValue(startMs + 122_000);
    hints.found();
    clock.mockRestore();
    await untilReopened(opened);
    await expectHint();
  });
});

describe('hints', () => {
  const transaction = (signature: string) => ({ signature, slot: 1n, failed: false });
  const named = (signature: string, isPaying = true) => ({ ...transaction(signature), isPaying });

  it('wake for a payment at once, and 25 ms after a lock', async () => {
    jest.useFakeTimers();
    const own = createLedgerHints();
    let woken = 0;
    const wait = () => void own.wait(1_000, new AbortController().signal).then(() => (woken += 1));
    wait();
    own.name(named('a lock', false));
    await jest.advanceTimersByTimeAsync(24);
    expect(woken).toBe(0);
    await jest.advanceTimersByTimeAsync(1);
    expect(woken).toBe(1);

    wait();
    own.name(named('another lock', false));
    own.name(named('a settlement'));
    await jest.advanceTimersByTimeAsync(0);
    expect(woken).toBe(2);
  });

  it('pass over what a sweep has stored, until the ledger loses it', () => {
    const own = createLedgerHints();
    own.name(named('early'));
    own.name(named('other'));
    own.stored(['early', 'late']);
    own.name(named('late'));
    own.hint('late');
    expect(own.take()).toEqual({ named: [transaction('other')], isMore: false });

    own.lost('late');
    own.name(named('late'));
    expect(own.take()).toEqual({ named: [transaction('late')], isMore: false });
  });
});

describe('a stream', () => {
  /** By a clock that the test moves. */
  function watch() {
    let nowMs = 0;
    const watchdog = createStreamWatchdog(() => nowMs);
    const at = <Result>(seconds: number, act: () => Result): Result => {
      nowMs = seconds * 1_000;
      return act();
    };
    return {
      found: (seconds: number) => at(seconds, watchdog.found),
      named: (seconds: number) => at(seconds, watchdog.received),
    };
  }

  it('is replaced a minute after its first missed find, and so is the next', () => {
    const { found } = watch();
    const seconds = [60, 119, 120, 180, 239, 240];
    expect(seconds.filter(found)).toEqual([120, 240]);
  });

  it('is kept while nothing is found, and where it names a find a moment later', () => {
    const { found, named } = watch();
    for (let second = 601; second < 2_000; second += 90) {
      expect(found(second)).toBe(false);
      named(second + 1);
    }
  });
});
