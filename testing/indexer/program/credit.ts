import { type CreditAccount, type Instruction, NO_KEY } from './programState.ts';

/** Which account an event is about, at its sequence. */
export function accountOf({ wallet, creditAccount, sequence }: CreditAccount) {
  return { wallet, creditAccount, creditSequence: `${sequence}` };
}

export const openWallet =
  (wallet: string, creditAccount = `credits of ${wallet}`): Instruction =>
  ({ wallets }, now) => {
    if (wallets.has(wallet)) return null;
    const account = {
      ...{ wallet, creditAccount, sequence: 1n },
      ...{ availableCredits: 0n, lockedCredits: 0n, owedCredits: 0n, openDisputes: 0 },
    };
    wallets.set(wallet, account);
    const limits = { limitPerJobCredits: '0', limitPerDayCredits: '0' };
    return {
      name: 'CreditOpened',
      data: { ...now, ...accountOf(account), spender: NO_KEY, ...limits },
    };
  };

export const buy =
  (wallet: string, credits: bigint): Instruction =>
  ({ wallets }, now) => {
    const account = wallets.get(wallet);
    if (!account) return null;
    account.sequence += 1n;
    account.availableCredits += credits;
    return {
      name: 'CreditBought',
      data: {
        ...{ ...now, ...accountOf(account), buyer: wallet, credits: `${credits}` },
        availableCredits: `${account.availableCredits}`,
        lockedCredits: `${account.lockedCredits}`,
      },
    };
  };

export const withdraw =
  (wallet: string, credits: bigint): Instruction =>
  ({ wallets }, now) => {
    const account = wallets.get(wallet);
    if (!account || account.availableCredits < credits) return null;
    account.sequence += 1n;
    account.availableCredits -= credits;
    return {
      name: 'CreditWithdrawn',
      data: {
        ...{ ...now, ...accountOf(account), destination: wallet, credits: `${credits}` },
        availableCredits: `${account.availableCredits}`,
        lockedCredits: `${account.lockedCredits}`,
      },
    };
  };
