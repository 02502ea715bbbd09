import { beforeEach, describe, expect, it } from '@jest/globals';
import { Keypair } from '@solana/web3.js';
import { createDrafts, type Drafts } from '../../api/ledger/drafts.ts';
import { createAddresses } from '../../programs/client/addresses.ts';
import { jobIdTimeMs } from '../../programs/client/jobId.ts';
import { LedgerUnavailableError } from '../../programs/client/sender/outcome.ts';

const HOUR_MS = 3_600_000;
const addresses = createAddresses();
const [wallet, other] = [Keypair.generate().publicKey, Keypair.generate().publicKey].map(String);

/** Later for each test: the ids of a process do not fall behind by a little. */
let startMs = Date.UTC(2026, 0, 1);
let clock: { isRead: boolean; ms: number };
let drafts: Drafts;

beforeEach(() => {
  startMs += HOUR_MS;
  clock = { isRead: true, ms: startMs };
  const ledgerClock = {
    get isRead() {
      return clock.isRead;
    },
    nowMs: () => clock.ms,
  };
  drafts = createDrafts({ addresses, clock: ledgerClock } as Parameters<typeof createDrafts>[0]);
});

/** The ledger's time at which the wallet's next draft was drawn. */
const takenOf = (of: string | undefined) => jobIdTimeMs(drafts.take(of as string).bytes);

describe('a draft', () => {
  it('is drawn when it is asked for, where none was drawn ahead', () => {
    clock.ms += 1_000;
    expect(takenOf(wallet)).toBe(startMs + 1_000);
  });

  it('is the one that was drawn ahead for its wallet, once', () => {
    drafts.drawAhead(wallet as string);
    clock.ms += 9_000;
    expect(takenOf(other)).toBe(startMs + 9_000);
    expect(takenOf(wallet)).toBe(startMs);
    expect(takenOf(wallet)).toBe(startMs + 9_000);
  });

  it('has the address that its wallet and id give', () => {
    drafts.drawAhead(wallet as string);
    const { address, creditAccount, bytes } = drafts.take(wallet as string);
    expect(address).toEqual(addresses.job(creditAccount, bytes));
  });

  it.each([
    ['10 s ago', 10_000],
    ['before the time fell back', -10_000],
  ])('is drawn anew where the one ahead was drawn %s', (_when, afterMs) => {
    drafts.drawAhead(wallet as string);
    clock.ms += afterMs;
    expect(takenOf(wallet)).toBe(startMs + afterMs);
  });

  it('is drawn ahead once, until that is too old', () => {
    drafts.drawAhead(wallet as string);
    clock.ms += 5_000;
    drafts.drawAhead(wallet as string);
    expect(takenOf(wallet)).toBe(startMs);

    drafts.drawAhead(wallet as string);
    clock.ms += 10_000;
    drafts.drawAhead(wallet as string);
    clock.ms += 5_000;
    expect(takenOf(wallet)).toBe(startMs + 15_000);
  });

  it("is not given out while the ledger's time is unknown", () => {
    drafts.drawAhead(wallet as string);
    clock.isRead = false;
    expect(() => takenOf(wallet)).toThrow(LedgerUnavailableError);
  });
});
