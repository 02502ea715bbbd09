import { zstdCompressSync } from 'node:zlib';
import { base58 } from '@scure/base';
import type { Account, Runtime } from '../../runtime/runtime.ts';
import { addressText } from '../../wire/addressText.ts';
import { exact } from '../../wire/json.ts';
import type { AccountShape } from '../parameters.ts';
import { invalidRequest } from '../rpcError.ts';
import { parseTokenData } from './tokenData.ts';

/** More of it would keep a node busy for long. */
const BASE58_BYTES_MAX = 128;

/** An account as clusters tell it; null stays null. */
export function encodeAccount(
  runtime: Runtime,
  account: Account | null,
  shape: Pick<AccountShape, 'encoding' | 'dataSlice'>,
): object | null {
  if (account === null) return null;
  return {
    data: encodeData(runtime, account, shape),
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
  { encoding = 'binary', dataSlice }: Pick<AccountShape, 'encoding' | 'dataSlice'>,
): unknown {
  const { data } = account;
  const slice = dataSlice
    ? data.subarray(dataSlice.offset, dataSlice.offset + dataSlice.length)
    : data;
  const bytes = Buffer.from(slice.buffer, slice.byteOffset, slice.length);
  switch (encoding) {
    case 'binary':
      return inBase58(bytes);
    case 'base58':
      return [inBase58(bytes), 'base58'];
    case 'base64':
      return [bytes.toString('base64'), 'base64'];
    case 'base64+zstd':
      return [zstdCompressSync(bytes).toString('base64'), 'base64+zstd'];
    case 'jsonParsed':
      // What it does not know how to read, a node tells in base64.
      return parseTokenData(runtime, account) ?? [bytes.toString('base64'), 'base64'];
  }
}

function inBase58(bytes: Buffer): string {
  if (bytes.length <= BASE58_BYTES_MAX) return base58.encode(bytes);
  throw invalidRequest(
    `Encoded binary (base 58) data should be less than ${BASE58_BYTES_MAX} bytes, please use ` +
      'Base64 encoding.',
  );
}
