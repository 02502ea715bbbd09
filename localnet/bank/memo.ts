import { base58 } from '@scure/base';
import { keyOf } from '../wire/addressText.ts';
import type { DecodedTransaction } from '../wire/transaction.ts';

const MEMO_PROGRAMS = new Set(
  [
    'MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr',
    'Memo1UhkJRfHyvLMcVucJwxXeuD728EqVDDwQDxFMNo',
  ].map((address) => keyOf(base58.decode(address))),
);

/** A transaction's memos as clusters list them: each behind its length in bytes. */
export function memoOf({ keys, instructions }: DecodedTransaction): string | null {
  const memos = instructions
    .filter(({ programIdIndex }) => MEMO_PROGRAMS.has(keyOf(keys[programIdIndex] as Uint8Array)))
    .map(({ data }) => `[${data.length}] ${Buffer.from(data).toString('utf8')}`);
  return memos.length === 0 ? null : memos.join('; ');
}
