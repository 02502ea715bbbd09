import type { PublicKey } from '@solana/web3.js';
import { encodeBase58 } from '../../../base58.ts';
import { verifySignature } from '../../../proof.ts';
import { fails, holds } from '../../check.ts';
import { changingTransactions } from '../record.ts';
import { historyRule } from '../rule.ts';
import type { LedgerTransaction } from '../transaction.ts';

/** A node cannot make up or alter what the signers of a transaction asked for. */
export const signatures = historyRule('history.signatures', (record) => {
  const transactions = changingTransactions(record);
  const unsigned = transactions.filter((transaction) => !isSigned(transaction));
  return unsigned.length > 0
    ? fails(
        `Not what its signers signed: ${unsigned.map(({ signature }) => signature).join(', ')}.`,
      )
    : holds(`All signers signed what is shown. Transactions: ${transactions.length}.`);
});

function isSigned({ signature, signatures, signers, message }: LedgerTransaction): boolean {
  const [first] = signatures;
  return (
    first !== undefined &&
    encodeBase58(first) === signature &&
    signatures.length === signers.length &&
    signatures.every((one, index) =>
      verifySignature({ publicKey: signers[index] as PublicKey, message, signature: one }),
    )
  );
}
