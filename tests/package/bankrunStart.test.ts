import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { type AddedAccount, start } from 'solana-bankrun';
import { finalProgram, startLoaded } from '../../testing/kit/bankrun.ts';

const ARTIFACT = join(import.meta.dirname, '../../programs/escrow/artifacts/escrow-v0.so');

const whole = finalProgram();
const damaged = finalProgram(readFileSync(ARTIFACT).fill(0xff, 0x200, 0x4000));

/** Starts chains one after the other, each with the next of the programs. */
const startWith = (programs: readonly AddedAccount[][]) => {
  const left = [...programs];
  const startNext: typeof start = (named) => start(named, left.shift() ?? []);
  return { startNext, left };
};

describe('the start of a chain in solana-bankrun', () => {
  it('uses another chain when one did not load the program', async () => {
    const { startNext, left } = startWith([damaged, whole, whole]);
    await startLoaded(startNext, whole);
    expect(left).toHaveLength(1);
  });

  it("reports the runtime's error when no chain loads the program", async () => {
    await expect(startLoaded(start, damaged)).rejects.toThrow('Program is not deployed');
  });
});
