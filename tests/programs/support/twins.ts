import { expect } from '@jest/globals';
import { type AccountInfo, PublicKey, type TransactionInstruction } from '@solana/web3.js';
import { localAuthority, startBankrun } from '../../../testing/kit/bankrun.ts';
import type { Chain } from '../../../testing/kit/chain.ts';
import { startLiteSvm } from '../../../testing/kit/litesvm.ts';

/** Two chains with the same transactions, seen as one. */
export interface Twins extends Chain {
  /** How often accounts of both were compared, after transactions that both took. */
  compared(): number;
}

/**
 * Starts solana-bankrun with the program's build for it, and LiteSVM with the build for clusters.
 * All that is sent or written goes to both, and each transaction has to end alike. It is refused for
 * the same reason, or leaves the same bytes and lamports in every account that it could write.
 */
export async function startTwins(): Promise<Twins> {
  const authority = await localAuthority();
  const upgradeAuthority = authority.publicKey;
  const bankrun = await startBankrun({ upgradeAuthority });
  const litesvm = await startLiteSvm({ upgradeAuthority });
  for (const key of [bankrun.payer, authority]) litesvm.fund(key.publicKey);
  /** Fees are each chain's own. */
  const payers = new Set(
    [bankrun.payer, litesvm.payer].map(({ publicKey }) => publicKey.toBase58()),
  );
  let compared = 0;

  const onBoth = (act: (chain: Chain) => void): void => {
    act(bankrun);
    act(litesvm);
  };
  const expectSameAccounts = async (instructions: TransactionInstruction[]): Promise<void> => {
    const keys = instructions.flatMap(({ keys }) => keys).filter(({ isWritable }) => isWritable);
    for (const name of new Set(keys.map(({ pubkey }) => pubkey.toBase58()))) {
      if (payers.has(name)) continue;
      const address = new PublicKey(name);
      expect(plain(await litesvm.account(address))).toEqual(plain(await bankrun.account(address)));
      compared += 1;
    }
  };

  return {
    ...litesvm,
    payer: bankrun.payer,
    authority,
    compared: () => compared,
    setAccount: (address, account) => onBoth((chain) => chain.setAccount(address, account)),
    fund: (address) => onBoth((chain) => chain.fund(address)),
    setMint: (mint, decimals) => onBoth((chain) => chain.setMint(mint, decimals)),
    setToken: (address, token) => onBoth((chain) => chain.setToken(address, token)),

    async setTime(unixSeconds) {
      await bankrun.setTime(unixSeconds);
      await litesvm.setTime(unixSeconds);
    },

    async send(instructions, signers = []) {
      const all = [...signers, bankrun.payer];
      const [theirs, ours] = await Promise.allSettled([
        bankrun.send(instructions, all),
        litesvm.send(instructions, all),
      ]);
      expect(reasonOf(ours)).toBe(reasonOf(theirs));
      if (ours.status === 'rejected') throw ours.reason;
      await expectSameAccounts(instructions);
      return ours.value;
    },
  };
}

const reasonOf = (outcome: PromiseSettledResult<number>): string | null =>
  outcome.status === 'rejected' ? (outcome.reason as Error).message : null;

/** What an account holds; nothing where there is none. */
const plain = (account: AccountInfo<Uint8Array> | null) =>
  account && {
    lamports: account.lamports,
    owner: account.owner.toBase58(),
    executable: account.executable,
    data: Buffer.from(account.data).toString('hex'),
  };
