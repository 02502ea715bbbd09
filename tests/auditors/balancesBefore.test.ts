import { describe, expect, it } from '@jest/globals';
import { Keypair } from '@solana/web3.js';
import { balancesBefore } from '../../programs/client/verify/job/record.ts';

type Events = Parameters<typeof balancesBefore>[0];

const creditAccount = Keypair.generate().publicKey;
const event = (name: string, data: object) => ({ name, data: { creditAccount, ...data } });
const opened = event('CreditOpened', { creditSequence: 1n });
const bought = event('CreditBought', {
  creditSequence: 2n,
  availableCredits: 50n,
  lockedCredits: 8n,
});
const before = (sequence: bigint, ...events: object[]) =>
  balancesBefore(events as unknown as Events, creditAccount, sequence);

describe('the balances before a change of a credit account', () => {
  it('are nothing right after its opening', () => {
    const nothing = { availableCredits: 0n, lockedCredits: 0n, spentTodayCredits: 0n };
    expect(before(2n, opened)).toEqual(nothing);
  });

  it('are those of the change before', () => {
    expect(before(3n, opened, bought)).toEqual({ availableCredits: 50n, lockedCredits: 8n });
  });

  it('are put together from several changes, the later of which counts', () => {
    const paid = event('ClaimPaid', {
      claimant: creditAccount,
      claimantSequence: 3n,
      creditAccount: undefined,
      availableCredits: 60n,
    });
    expect(before(4n, opened, bought, paid)).toEqual({ availableCredits: 60n, lockedCredits: 8n });
  });

  it('are with the day’s sum where an event says it', () => {
    const locked = event('JobLocked', {
      creditSequence: 3n,
      availableCredits: 40n,
      accountLockedCredits: 18n,
      spentTodayCredits: 10n,
    });
    const all = { availableCredits: 40n, lockedCredits: 18n, spentTodayCredits: 10n };
    expect(before(4n, opened, bought, locked)).toEqual(all);
    expect(before(3n, opened, bought)?.spentTodayCredits).toBeUndefined();
  });

  it('are unknown across a gap, without any change, and for another account', () => {
    expect(before(3n, opened)).toBeUndefined();
    expect(before(1n, opened)).toBeUndefined();
    const other = {
      ...opened,
      data: { ...opened.data, creditAccount: Keypair.generate().publicKey },
    };
    expect(before(2n, other)).toBeUndefined();
  });
});
