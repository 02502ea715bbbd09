import { PublicKey } from '@solana/web3.js';
import { spenderSet } from '../../programs/client/index.ts';
import { submit } from '../../stack/operator.ts';
import type { Service } from '../../tests/support/ledger.ts';

/** So many fit into one transaction. */
const CHANGES_PER_TRANSACTION = 18;

/**
 * Has the ledger emit any number of events, one for each time that the wallet names a spender. None
 * of them makes an account, of which each would slow the embedded ledger down.
 */
export async function fillLedger({ operator, wallet }: Service, events: number): Promise<void> {
  for (let left = events; left > 0; left -= CHANGES_PER_TRANSACTION) {
    // Another one each time, or the ledger would know the transaction already.
    const change = spenderSet({ wallet: wallet.publicKey, spender: PublicKey.unique() });
    const changes = Array<typeof change>(Math.min(left, CHANGES_PER_TRANSACTION)).fill(change);
    await submit(operator, changes, [wallet]);
  }
}
