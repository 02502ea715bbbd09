import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { delay } from '../../common/wait.ts';
import { createRpc } from '../../programs/client/rpc/rpc.ts';
import { createLedgerClock, type LedgerClock } from '../../programs/client/sender/index.ts';
import {
  advanceSeconds,
  readClockSeconds,
  startLedger,
  type TestLedger,
} from '../../testing/ledger/ledger.ts';
import { interceptedRpc } from './interceptedRpc.ts';

const DAY_SECONDS = 86_400;
/** A reading is uncertain by half the time that it takes: far less than the differences that count. */
const UNCERTAIN_MS = 10_000;
let ledger: TestLedger;
let clock: LedgerClock;

beforeAll(async () => {
  ledger = await startLedger();
  clock = createLedgerClock({ rpc: ledger.rpc });
  await clock.ready;
});

afterAll(async () => {
  clock.close();
  await ledger.close();
});

/** A node's answer to the question for the Clock. */
function clockAnswer(unixSeconds: number) {
  const bytes = Buffer.alloc(40);
  bytes.writeBigInt64LE(BigInt(unixSeconds), 32);
  const data = [bytes.toString('base64'), 'base64'];
  const value = { lamports: 1, owner: 'Sysvar', executable: false, data };
  return { status: 200, text: JSON.stringify({ result: { context: { slot: 1 }, value } }) };
}

describe('the ledger clock', () => {
  it('returns the second of the ledger’s Clock account', async () => {
    const before = await readClockSeconds(ledger.connection);
    const readSeconds = clock.nowSeconds();
    const after = await readClockSeconds(ledger.connection);
    expect(readSeconds).toBeGreaterThanOrEqual(before - 1n);
    expect(readSeconds).toBeLessThanOrEqual(after + 1n);
    expect(BigInt(Math.floor(clock.nowMs() / 1_000)) - readSeconds).toBeLessThanOrEqual(1n);
  });

  it('advances between two readings', async () => {
    const slow = createLedgerClock({ rpc: ledger.rpc, intervalMs: 3_600_000 });
    await slow.ready;
    const startMs = slow.nowMs();
    await slow.waitUntil(slow.nowSeconds() + 2n, AbortSignal.timeout(300));
    expect(slow.nowMs() - startMs).toBeGreaterThanOrEqual(290);
    slow.close();
  });

  it("ignores a change of the machine's clock, and shows it as its offset", async () => {
    const slow = createLedgerClock({ rpc: ledger.rpc, intervalMs: 3_600_000 });
    await slow.ready;
    const [startMs, offsetMs, hereMs] = [slow.nowMs(), slow.offsetMs, Date.now()];
    for (const hourMs of [3_600_000, -3_600_000]) {
      const set = jest.spyOn(Date, 'now').mockReturnValue(hereMs + hourMs);
      expect(Math.abs(slow.nowMs() - startMs)).toBeLessThan(UNCERTAIN_MS);
      expect(Math.abs(slow.offsetMs - offsetMs + hourMs)).toBeLessThan(UNCERTAIN_MS);
      set.mockRestore();
    }
    slow.close();
  });

  it('detects a jump of the ledger’s time, and shows it as its offset [failures.ledger-time]', async () => {
    const offsetMs = clock.offsetMs;
    const target = (await readClockSeconds(ledger.connection)) + BigInt(DAY_SECONDS);
    await advanceSeconds(ledger.connection, DAY_SECONDS);
    await clock.waitUntil(target);
    expect(clock.nowSeconds()).toBeGreaterThanOrEqual(target);
    expect(Math.abs(clock.offsetMs - offsetMs - DAY_SECONDS * 1_000)).toBeLessThan(UNCERTAIN_MS);
  });

  it('ends a wait with any reading that shows its time', async () => {
    const slow = createLedgerClock({ rpc: ledger.rpc, intervalMs: 3_600_000 });
    await slow.ready;
    let isOver = false;
    const waiting = slow.waitUntil(slow.nowSeconds() + BigInt(DAY_SECONDS)).then(() => {
      isOver = true;
    });
    await advanceSeconds(ledger.connection, DAY_SECONDS + 1);
    await slow.read();
    await delay(0);
    expect(isOver).toBe(true);
    await waiting;
    slow.close();
  });

  it('reads the ledger’s time every 400 ms, and follows a jump within 0.5 s', async () => {
    jest.useFakeTimers();
    const readAtMs: number[] = [];
    const rpc = createRpc({
      async post() {
        readAtMs.push(performance.now());
        return clockAnswer(0);
      },
    });
    const lonely = createLedgerClock({ rpc });
    await jest.advanceTimersByTimeAsync(4_000);
    lonely.close();
    jest.useRealTimers();
    const pauses = readAtMs.slice(1).map((ms, place) => ms - (readAtMs[place] ?? 0));
    expect(pauses).toEqual(Array(10).fill(400));
  });

  it('keeps its time when a node takes seconds to answer', async () => {
    jest.useFakeTimers();
    let lateMs = 0;
    const rpc = createRpc({
      async post() {
        const answer = clockAnswer(Math.floor(performance.now() / 1_000));
        await delay(lateMs);
        return answer;
      },
    });
    const clock = createLedgerClock({ rpc });
    await jest.advanceTimersByTimeAsync(2_000);
    lateMs = 8_000;
    await jest.advanceTimersByTimeAsync(9_000);
    const aheadMs = clock.nowMs() - performance.now();
    clock.close();
    jest.useRealTimers();
    expect(Math.abs(aheadMs)).toBeLessThan(1_000);
  });

  it('does not wait for a past time', async () => {
    await clock.waitUntil(clock.nowSeconds());
    await clock.waitUntil(0n);
  });

  it('stops waiting without an error when it is aborted', async () => {
    const given = new AbortController();
    const wait = clock.waitUntil(clock.nowSeconds() + 1_000n, given.signal);
    given.abort();
    await wait;
    await clock.waitUntil(clock.nowSeconds() + 1_000n, given.signal);
  });

  it('survives failed readings', async () => {
    let readings = 0;
    const flaky = createLedgerClock({
      rpc: interceptedRpc(ledger.rpcUrl, async (request, forward) => {
        readings += 1;
        if (readings <= 3) throw new Error('The connection was reset');
        return forward(request);
      }),
      intervalMs: 40,
    });
    await flaky.ready;
    expect(readings).toBe(4);
    await clock.read();
    const before = await readClockSeconds(ledger.connection);
    const readSeconds = flaky.nowSeconds();
    expect(readSeconds).toBeGreaterThanOrEqual(before - 1n);
    expect(readSeconds).toBeLessThanOrEqual((await readClockSeconds(ledger.connection)) + 1n);
    flaky.close();
  });

  it('rejects those who wait for a first reading when it is closed', async () => {
    const lost = createLedgerClock({
      rpc: interceptedRpc(ledger.rpcUrl, async () => {
        throw new Error('The connection was refused');
      }),
    });
    lost.close();
    await expect(lost.ready).rejects.toThrow('closed');
  });
});
