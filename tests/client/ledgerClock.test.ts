import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { delay } from '../../common/wait.ts';
import { createRpc, type Rpc } from '../../programs/client/rpc/rpc.ts';
import { createLedgerClock, type LedgerClock } from '../../programs/client/sender/index.ts';

const DAY_SECONDS = 86_400;
const HOUR_MS = 3_600_000;
const clocks: LedgerClock[] = [];

/** A node whose ledger is so far ahead of its time of day, and takes so long to answer. */
const node = { aheadSeconds: 0, lateMs: 0, isAway: false, readAtMs: [] as number[] };

function connect(): Rpc {
  return createRpc({
    async post() {
      node.readAtMs.push(performance.now());
      if (node.isAway) throw new Error('The connection was reset');
      const bytes = Buffer.alloc(40);
      bytes.writeBigInt64LE(secondsThere(), 32);
      if (node.lateMs > 0) await delay(node.lateMs);
      const data = [bytes.toString('base64'), 'base64'];
      const value = { lamports: 1, owner: 'Sysvar', executable: false, data };
      return { status: 200, text: JSON.stringify({ result: { context: { slot: 1 }, value } }) };
    },
  });
}

const secondsThere = () => BigInt(Math.floor(performance.now() / 1_000) + node.aheadSeconds);

async function start(intervalMs?: number): Promise<LedgerClock> {
  const clock = createLedgerClock({ rpc: connect(), ...(intervalMs && { intervalMs }) });
  clocks.push(clock);
  await jest.advanceTimersByTimeAsync(0);
  return clock;
}

const pass = (ms: number) => jest.advanceTimersByTimeAsync(ms);

beforeEach(() => {
  jest.useFakeTimers();
  Object.assign(node, { aheadSeconds: 1_000, lateMs: 0, isAway: false, readAtMs: [] });
});
afterEach(() => {
  for (const clock of clocks.splice(0)) clock.close();
  jest.useRealTimers();
});

describe('the ledger clock', () => {
  it('has the second of the ledger’s Clock, and runs between two readings', async () => {
    const clock = await start(HOUR_MS);
    await clock.ready;
    expect(clock.nowSeconds()).toBe(secondsThere());
    const startMs = clock.nowMs();
    await pass(5_000);
    expect(clock.nowMs() - startMs).toBe(5_000);
    expect(clock.nowSeconds()).toBe(secondsThere());
    expect(node.readAtMs).toHaveLength(1);

    const reached = jest.fn();
    void clock.waitUntil(clock.nowSeconds() + 2n).then(reached);
    await pass(1_999);
    expect(reached).not.toHaveBeenCalled();
    await pass(1);
    expect(reached).toHaveBeenCalled();
  });

  it("ignores a change of the machine's clock, and shows it as its offset", async () => {
    const clock = await start(HOUR_MS);
    const [startMs, offsetMs, hereMs] = [clock.nowMs(), clock.offsetMs, Date.now()];
    for (const hourMs of [HOUR_MS, -HOUR_MS]) {
      const set = jest.spyOn(Date, 'now').mockReturnValue(hereMs + hourMs);
      expect(clock.nowMs()).toBe(startMs);
      expect(clock.offsetMs).toBe(offsetMs - hourMs);
      set.mockRestore();
    }
  });

  it('detects a jump of the ledger’s time, and shows it as its offset [failures.ledger-time]', async () => {
    const clock = await start();
    const offsetMs = clock.offsetMs;
    const reached = jest.fn();
    void clock.waitUntil(clock.nowSeconds() + BigInt(DAY_SECONDS)).then(reached);
    await pass(5_000);
    expect(reached).not.toHaveBeenCalled();
    node.aheadSeconds += DAY_SECONDS;
    await pass(500);
    expect(reached).toHaveBeenCalled();
    expect(clock.nowSeconds()).toBe(secondsThere());
    expect(Math.abs(clock.offsetMs - offsetMs - DAY_SECONDS * 1_000)).toBeLessThan(1_000);
  });

  it('ends a wait with any reading that shows its time', async () => {
    const clock = await start(HOUR_MS);
    const reached = jest.fn();
    void clock.waitUntil(clock.nowSeconds() + BigInt(DAY_SECONDS)).then(reached);
    node.aheadSeconds += DAY_SECONDS;
    await pass(0);
    expect(reached).not.toHaveBeenCalled();
    await clock.read();
    await pass(0);
    expect(reached).toHaveBeenCalled();
  });

  it('reads the ledger’s time every 400 ms', async () => {
    await start();
    await pass(4_000);
    const pauses = node.readAtMs.slice(1).map((ms, place) => ms - (node.readAtMs[place] ?? 0));
    expect(pauses).toEqual(Array(10).fill(400));
  });

  it('keeps its time when a node takes seconds to answer', async () => {
    const clock = await start();
    await pass(2_000);
    node.lateMs = 8_000;
    await pass(9_000);
    expect(Math.abs(clock.nowMs() - Number(secondsThere()) * 1_000)).toBeLessThan(1_000);
  });

  it('waits for no past time, and no longer than its signal', async () => {
    const clock = await start();
    await clock.waitUntil(clock.nowSeconds());
    const given = new AbortController();
    const wait = clock.waitUntil(clock.nowSeconds() + 1_000n, given.signal);
    given.abort();
    await wait;
    await clock.waitUntil(clock.nowSeconds() + 1_000n, given.signal);
  });

  it('survives failed readings', async () => {
    node.isAway = true;
    const clock = await start();
    await pass(2_000);
    expect(clock.isRead).toBe(false);
    node.isAway = false;
    await pass(400);
    await clock.ready;
    expect(clock.nowSeconds()).toBe(secondsThere());
  });

  it('rejects those who wait for a first reading when it is closed', async () => {
    node.isAway = true;
    const clock = await start();
    clock.close();
    await expect(clock.ready).rejects.toThrow('closed');
  });
});
