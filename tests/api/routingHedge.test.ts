import { describe, expect, it } from '@jest/globals';
import type { Asked } from '../../api/completion/ask.ts';
import { askOneOrTwo, type Lane } from '../../api/completion/hedge.ts';
import type { Slot } from '../../api/routing/slots.ts';

const failed: Asked = { kind: 'failed', reason: 'worker_error', hasContent: false, cause: '' };
const overdue: Asked = { kind: 'overdue' };
const outrun: Asked = { kind: 'outrun', afterMs: 1 };

/** An attempt that the test brings to its end. */
interface Begun extends Lane {
  slot: Slot;
  end(how: Asked): void;
  break(error: Error): void;
}

function start(hedgeAfterMs: number | undefined, rivals: Slot[] = []) {
  const begun: Begun[] = [];
  const first = {} as Slot;
  const decided = askOneOrTwo({
    hedgeAfterMs,
    slot: first,
    findRival: async () => rivals.shift(),
    begin(slot, lane) {
      const ending = Promise.withResolvers<Asked>();
      begun.push({ ...lane, slot, end: ending.resolve, break: ending.reject });
      return ending.promise;
    },
  });
  const untilBegun = async (count: number): Promise<Begun[]> => {
    while (begun.length < count) await new Promise((resolve) => setImmediate(resolve));
    return begun;
  };
  return { begun, first, decided, untilBegun };
}

/** Two attempts side by side. */
async function startTwo() {
  const rival = {} as Slot;
  const { decided, untilBegun, first } = start(1, [rival]);
  const [one, other] = await untilBegun(2);
  if (!one || !other) throw new Error('there are not two');
  expect([one.slot, other.slot]).toEqual([first, rival]);
  return { one, other, decided };
}

describe('one worker', () => {
  it('is asked alone without hedging, however long it takes', async () => {
    const { begun, decided, untilBegun } = start(undefined, [{} as Slot]);
    const [one] = await untilBegun(1);
    one?.end(failed);
    expect(await decided).toBe(failed);
    expect(begun).toHaveLength(1);
  });

  it('gets no rival once it has text, or has ended, or when no slot is free', async () => {
    const [heard, ended, alone] = [start(30, [{} as Slot]), start(30, [{} as Slot]), start(1)];
    heard.begun[0]?.runner.claim();
    ended.begun[0]?.end(overdue);
    expect(await ended.decided).toBe(overdue);
    // Twice the time after which a rival would have been asked.
    await new Promise((resolve) => setTimeout(resolve, 60));
    for (const { begun } of [heard, ended, alone]) expect(begun).toHaveLength(1);
    for (const { begun, decided } of [heard, alone]) {
      begun[0]?.end(failed);
      expect(await decided).toBe(failed);
    }
  });
});

describe('two workers', () => {
  it.each(['one', 'other'] as const)('are told apart by who has text first: %s', async (name) => {
    const two = await startTwo();
    const [winner, loser] = name === 'one' ? [two.one, two.other] : [two.other, two.one];
    expect(winner.runner.claim()).toBe(true);
    // then the other is stopped, and what it says is not wanted
    expect([winner.runner.outrun.aborted, loser.runner.outrun.aborted]).toEqual([false, true]);
    expect(loser.runner.claim()).toBe(false);
    expect(winner.runner.claim()).toBe(true);
    loser.end(outrun);
    winner.end(overdue);
    expect(await two.decided).toBe(overdue);
  });

  it('know which of them is the rival', async () => {
    const { one, other } = await startTwo();
    expect([one.isRival, other.isRival]).toEqual([false, true]);
    expect([one.hasRival(), other.hasRival()]).toEqual([true, true]);
  });

  it.each(['one', 'other'] as const)('leave it to each other when %s fails', async (name) => {
    const two = await startTwo();
    const [failing, going] = name === 'one' ? [two.one, two.other] : [two.other, two.one];
    failing.end(failed);
    going.runner.claim();
    const lost: Asked = { ...failed, hasContent: true };
    going.end(lost);
    expect(await two.decided).toBe(lost);
  });

  it('come to what says most when neither had text', async () => {
    const refused: Asked = { kind: 'context_exceeded' };
    for (const [first, second, decided] of [
      [failed, refused, refused],
      [refused, failed, refused],
      [failed, failed, failed],
    ] as const) {
      const two = await startTwo();
      two.one.end(first);
      two.other.end(second);
      expect(await two.decided).toBe(decided);
    }
  });

  it('are both over before an error is passed on', async () => {
    const { one, other, decided } = await startTwo();
    let isOver = false;
    const broken = expect(decided)
      .rejects.toThrow('broken')
      .then(() => expect(isOver).toBe(true));
    one.break(new Error('broken'));
    await new Promise((resolve) => setImmediate(resolve));
    isOver = true;
    other.end(outrun);
    await broken;
  });
});
