import { describe, expect, it } from '@jest/globals';
import type { Job } from '../../programs/client/generated/types.ts';
import { createJobLookup } from '../../worker/ledger/jobLookup.ts';
import type { JobReading } from '../../worker/ledger/ledger.ts';
import { freshAddress } from './scene.ts';

const CAPACITY = 40;
/** One at once, and one after each pause of 3 seconds together. */
const LOOKS = 13;
const ABSENT: JobReading = {
  ...{ job: undefined, worker: undefined, config: undefined },
  unixSeconds: 0n,
};

/** A ledger that shows a job once the test says so, and waits that end when it says so. */
function openBench(capacity = CAPACITY) {
  const shown = new Set<string>();
  let reads = 0;
  const gate = Promise.withResolvers<void>();
  const ledger = {
    async readJob(address: { toBase58(): string }) {
      reads += 1;
      return { ...ABSENT, job: shown.has(address.toBase58()) ? ({} as Job) : undefined };
    },
  };
  const find = createJobLookup(ledger, capacity, () => gate.promise);

  function ask(isKnown: boolean, address = freshAddress()) {
    return find(address, isKnown).then(
      () => 'found',
      (error: { code: string }) => error.code,
    );
  }

  return {
    ask,
    get reads() {
      return reads;
    },
    show: (address: { toBase58(): string }) => void shown.add(address.toBase58()),
    passTime: gate.resolve,
  };
}

describe('a repeated lookup of a missing job', () => {
  it('is granted to as many unknown signers as the worker has capacity', async () => {
    const bench = openBench();
    const waiting = Array.from({ length: CAPACITY }, () => bench.ask(false));
    const further = Array.from({ length: 100 }, () => bench.ask(false));
    expect(new Set(await Promise.all(further))).toEqual(new Set(['job_not_found']));
    expect(bench.reads).toBe(CAPACITY + 100);
    bench.passTime();
    expect(new Set(await Promise.all(waiting))).toEqual(new Set(['job_not_found']));
    expect(bench.reads).toBe(CAPACITY * LOOKS + 100);
    // They make room.
    await bench.ask(false);
    expect(bench.reads).toBe((CAPACITY + 1) * LOOKS + 100);
  });

  it('leaves some room at a worker with capacity for one job', async () => {
    const bench = openBench(1);
    const address = freshAddress();
    const asked = [bench.ask(false), bench.ask(false, address)];
    await new Promise(setImmediate);
    bench.show(address);
    bench.passTime();
    expect(await Promise.all(asked)).toEqual(['job_not_found', 'found']);
  });

  it('is granted to a signer whose last job passed, beside unknown signers', async () => {
    const bench = openBench();
    const strangers = Array.from({ length: CAPACITY }, () => bench.ask(false));
    const address = freshAddress();
    const asked = bench.ask(true, address);
    await new Promise(setImmediate);
    bench.show(address);
    bench.passTime();
    expect(await asked).toBe('found');
    await Promise.all(strangers);
  });
});

it('a lookup asks again after most of the time that the last lock took', async () => {
  const lockMs = 400;
  let waitedMs = 0;
  let reads = 0;
  const ledger = {
    readJob: async () => {
      reads += 1;
      return { ...ABSENT, job: waitedMs >= lockMs ? ({} as Job) : undefined };
    },
  };
  const find = createJobLookup(ledger, CAPACITY, async (ms) => {
    waitedMs += ms;
  });
  const found: (readonly [reads: number, waitedMs: number])[] = [];
  for (let job = 0; job < 4; job += 1) {
    [waitedMs, reads] = [0, 0];
    await find(freshAddress(), true);
    found.push([reads, waitedMs]);
  }
  const [first, ...more] = found;
  expect(first).toEqual([10, 512]);
  for (const [looks, ms] of more) {
    expect(looks).toBeLessThanOrEqual(4);
    expect(ms).toBeLessThan(lockMs * 1.3);
  }
});
