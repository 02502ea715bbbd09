import { AccountLayout } from '@solana/spl-token';
import { SystemProgram } from '@solana/web3.js';
import type { Chain } from './chain.ts';
import { mintAccount, tokenAccount } from './tokenAccounts.ts';

/** More than any signer spends. */
export const LAMPORTS_PER_SIGNER = 1_000_000_000_000;

/** What every chain makes of reading and writing whole accounts. */
export function createAccountWriters({
  account,
  setAccount,
}: Pick<Chain, 'account' | 'setAccount'>): Pick<Chain, 'fund' | 'setMint' | 'setToken' | 'tokens'> {
  return {
    fund: (address) =>
      setAccount(address, {
        lamports: LAMPORTS_PER_SIGNER,
        data: new Uint8Array(),
        owner: SystemProgram.programId,
        executable: false,
      }),
    setMint: (mint, decimals) => setAccount(mint, mintAccount(decimals)),
    setToken: (address, token) => setAccount(address, tokenAccount(token)),

    async tokens(address) {
      const found = await account(address);
      if (found === null) throw new Error(`${address} is no token account`);
      return AccountLayout.decode(found.data).amount;
    },
  };
}
