import { describe, expect, it } from '@jest/globals';
import { Keypair } from '@solana/web3.js';
import { draftJob } from '../../api/ledger/escrow.ts';
import { createAddresses } from '../../programs/client/addresses.ts';
import { jobIdTimeMs } from '../../programs/client/jobId.ts';
import { LedgerUnavailableError } from '../../programs/client/sender/sendResult.ts';

const NOW_MS = Date.UTC(2026, 0, 1);
const addresses = createAddresses();
const wallet = Keypair.generate().publicKey.toBase58();

const draw = (clock: { isRead: boolean }) =>
  draftJob(
    { addresses, clock: { ...clock, nowMs: () => NOW_MS } } as Parameters<typeof draftJob>[0],
    wallet,
  );

describe('a job draft', () => {
  it("has the ledger's time, and an address made of its wallet and id", () => {
    const { address, creditAccount, bytes } = draw({ isRead: true });
    expect(jobIdTimeMs(bytes)).toBe(NOW_MS);
    expect(address).toEqual(addresses.job(creditAccount, bytes));
  });

  it('has 32 random bytes of its own for the salt of its request', () => {
    const [one, other] = [draw({ isRead: true }), draw({ isRead: true })];
    expect(one.requestSalt).toHaveLength(32);
    expect(one.requestSalt).not.toEqual(other.requestSalt);
  });

  it("is not made while the ledger's time is unknown", () => {
    expect(() => draw({ isRead: false })).toThrow(LedgerUnavailableError);
  });
});
