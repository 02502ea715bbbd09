import { zstdCompressSync } from 'node:zlib';
import { base58 } from '@scure/base';
import type { Account, Runtime } from '../../runtime/runtime.ts';
import { addressText, exact } from '../../wire/text.ts';
import { invalidRequest } from '../protocol/method.ts';
import type { AccountShape } from '../protocol/parameters.ts';
import { parseTokenData } from './tokenData.ts';

/** Encoding more bytes in base58 would take too long. */
const BASE58_BYTES_MAX = 128;

/** The data in a notification, which cannot carry an error. */
const TOO_LONG = 'error: data too large for bs58 encoding';

type Shape = Pick<AccountShape, 'encoding' | 'dataSlice'>;

/**
 * An account in the form of clusters; null stays null.
 *
 * @throws CallError when its data are too long for base58
 */
export function encodeAccount(
  runtime: Runtime,
  account: Account | null,
  shape: Shape,
): object | null {
  return account && encodeWith(runtime, account, shape, refuseBase58);
}

/** An account for a notification, with an error text in place of data too long for base58. */
export function encodeNotified(runtime: Runtime, account: Account, shape: Shape): object {
  return encodeWith(runtime, account, shape, () => TOO_LONG);
}

function encodeWith(
  runtime: Runtime,
  account: Account,
  shape: Shape,
  onTooLong: () => string,
): object {
  return {
    data: encodeData(runtime, account, shape, onTooLong),
    executable: account.executable,
    lamports: exact(account.lamports),
    owner: addressText(account.owner),
    rentEpoch: exact(account.rentEpoch),
    space: account.data.length,
  };
}

function encodeData(
  runtime: Runtime,
  account: Account,
  { encoding = 'binary', dataSlice }: Shape,
  onTooLong: () => string,
): unknown {
  const { data } = account;
  const slice = dataSlice
    ? data.subarray(dataSlice.offset, dataSlice.offset + dataSlice.length)
    : data;
  const bytes = Buffer.from(slice.buffer, slice.byteOffset, slice.length);
  const inBase58 = () => (bytes.length <= BASE58_BYTES_MAX ? base58.encode(bytes) : onTooLong());
  switch (encoding) {
    case 'binary':
      return inBase58();
    case 'base58':
      return [inBase58(), 'base58'];
    case 'base64':
      return [bytes.toString('base64'), 'base64'];
    case 'base64+zstd':
      return [zstdCompressSync(bytes).toString('base64'), 'base64+zstd'];
    case 'jsonParsed':
      // A node returns data that it cannot parse in base64.
      return parseTokenData(runtime, account) ?? [bytes.toString('base64'), 'base64'];
  }
}

function refuseBase58(): never {
  throw invalidRequest(
    `Encoded binary (base 58) data should be less than ${BASE58_BYTES_MAX} bytes, please use ` +
      'Base64 encoding.',
  );
}
