import { z } from 'zod';
import { tryDecodeBase58 } from '../../../programs/client/keys.ts';
import { tokenHolding } from '../../bank/tokenBalances.ts';
import type { Account } from '../../runtime/runtime.ts';
import { addressText, exact } from '../../wire/text.ts';
import { encodeAccount } from '../encode/account.ts';
import { contextOf, invalidParams, method, stateMethod, withContext } from '../protocol/method.ts';
import {
  type AccountFilter,
  accountReading,
  address,
  amount,
  programReading,
  reading,
} from '../protocol/parameters.ts';

/** The limit of clusters. */
const ACCOUNTS_MAX = 100;
/** The size of the largest possible account, 10 MiB. */
const ACCOUNT_BYTES_MAX = 10 * 1024 * 1024;

export const accountMethods = {
  getAccountInfo: stateMethod(
    { address, config: accountReading },
    ({ bank }, { address: of, config }, { commitment }) =>
      encodeAccount(bank.runtime, bank.account(of, commitment), config),
  ),

  getMultipleAccounts: stateMethod(
    { addresses: z.array(address).max(ACCOUNTS_MAX), config: accountReading },
    ({ bank }, { addresses, config }, { commitment }) => {
      const shape = { ...config, encoding: config.encoding ?? 'base64' } as const;
      return addresses.map((of) =>
        encodeAccount(bank.runtime, bank.account(of, commitment), shape),
      );
    },
  ),

  getProgramAccounts: method(
    { programId: address, config: programReading },
    (context, { programId, config }) => {
      const { slot, commitment } = contextOf(context, config);
      const { bank } = context;
      const holds = filterOf(config.filters ?? []);
      const found = bank
        .accountsOf(programId, commitment)
        .filter(([, account]) => holds(account))
        .map(([at, account]) => ({
          account: encodeAccount(bank.runtime, account, config),
          pubkey: addressText(at),
        }));
      return config.withContext ? withContext(slot, found) : found;
    },
  ),

  getBalance: stateMethod(
    { address, config: reading },
    ({ bank }, { address: of }, { commitment }) =>
      exact(bank.account(of, commitment)?.lamports ?? 0n),
  ),

  getMinimumBalanceForRentExemption: method(
    { bytes: amount.max(ACCOUNT_BYTES_MAX), config: reading },
    ({ bank }, { bytes }) => exact(bank.runtime.rentExemptLamports(bytes)),
  ),
};

/** Whether an account passes all filters. @throws CallError for an empty filter */
export function filterOf(filters: readonly AccountFilter[]): (account: Account) => boolean {
  const tests = filters.map(testOf);
  return (account) => tests.every((test) => test(account));
}

function testOf(filter: AccountFilter): (account: Account) => boolean {
  if ('dataSize' in filter) return ({ data }) => data.length === filter.dataSize;
  if ('tokenAccountState' in filter) return (account) => tokenHolding(account) !== undefined;
  const { offset } = filter.memcmp;
  const wanted = bytesOf(filter.memcmp);
  return ({ data }) => {
    const part = data.subarray(offset, offset + wanted.length);
    return part.length === wanted.length && Buffer.compare(part, wanted) === 0;
  };
}

const MEMCMP_BYTES_MAX = 128;

function bytesOf({ bytes, encoding }: Extract<AccountFilter, { memcmp: unknown }>['memcmp']) {
  const decoded =
    typeof bytes !== 'string'
      ? Uint8Array.from(bytes)
      : encoding === 'base64'
        ? Buffer.from(bytes, 'base64')
        : tryDecodeBase58(bytes);
  if (decoded && decoded.length <= MEMCMP_BYTES_MAX) return decoded;
  throw invalidParams(`filters: memcmp wants at most ${MEMCMP_BYTES_MAX} bytes, encoded`);
}
