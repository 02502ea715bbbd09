import { PublicKey } from '@solana/web3.js';
import { spenderSet } from '../../programs/client/index.ts';
import { submit } from '../../stack/operator.ts';
import { callThrough, deployHostileProgram } from '../../testing/ledger/hostileCaller.ts';
import type { Service } from '../../testing/ledger/ledger.ts';

/** So many fit into one transaction. */
const CHANGES_PER_TRANSACTION = 15;

/**
 * Has the local ledger emit any number of events, one for each time that the wallet names a
 * spender. That ledger copies all it holds for each instruction of a transaction, so a transaction
 * has only one, in which a program makes all the changes, and no change makes an account.
 */
export async function fillLedger({ operator, wallet }: Service, events: number): Promise<void> {
  await deployHostileProgram(operator.connection);
  for (let left = events; left > 0; left -= CHANGES_PER_TRANSACTION) {
    // Another one each time, or the ledger would know the transaction already.
    const change = spenderSet({ wallet: wallet.publicKey, spender: PublicKey.unique() });
    const changes = Array<typeof change>(Math.min(left, CHANGES_PER_TRANSACTION)).fill(change);
    await submit(operator, [callThrough(...changes)], [wallet]);
  }
}
