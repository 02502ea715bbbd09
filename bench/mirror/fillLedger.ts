import { PublicKey } from '@solana/web3.js';
import { spenderSet } from '../../programs/client/index.ts';
import { submit } from '../../stack/operator.ts';
import { UNLIMITED } from '../../testing/kit/setUp.ts';
import { callThrough, deployHostileProgram } from '../../testing/ledger/hostileCaller.ts';
import type { Service } from '../../testing/ledger/ledger.ts';

/** The number of events that fit into one transaction. */
const CHANGES_PER_TRANSACTION = 11;

/**
 * Makes the local ledger emit any number of events: the wallet sets a spender each time. That ledger
 * copies all accounts for each instruction of a transaction. So a transaction has one instruction, in
 * which a program makes all the calls, and no call creates an account.
 */
export async function fillLedger(
  ledger: { rpcUrl: string },
  { operator, wallet }: Service,
  events: number,
): Promise<void> {
  await deployHostileProgram(ledger);
  for (let left = events; left > 0; left -= CHANGES_PER_TRANSACTION) {
    // A different spender each time, or the ledger would refuse a repeated transaction.
    const change = spenderSet({
      wallet: wallet.publicKey,
      spender: PublicKey.unique(),
      ...UNLIMITED,
    });
    const changes = Array<typeof change>(Math.min(left, CHANGES_PER_TRANSACTION)).fill(change);
    await submit(operator, [callThrough(...changes)], [wallet]);
  }
}
