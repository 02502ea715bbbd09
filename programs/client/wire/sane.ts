import { nameOfBytes } from '../platform/bytes.ts';
import type { Message } from './message.ts';
import { fail } from './reader.ts';

const ACCOUNTS_MAX = 256;
/** Of version 1 (SIMD-0385). */
const V1_MAX = { signatures: 12, keys: 64, instructions: 64 };
const KIB = 1_024;
const HEAP_BYTES = { min: 32 * KIB, max: 256 * KIB, step: KIB };

/**
 * The ledger's sanitizing: every index is valid, and a writable signer pays.
 *
 * @throws MalformedTransactionError
 */
export function assertSane(message: Message): void {
  const { header, keys, instructions, lookups, version } = message;
  const { numRequiredSignatures: signers, numReadonlySignedAccounts: readonlySigners } = header;
  if (signers + header.numReadonlyUnsignedAccounts > keys.length) {
    fail('failed to sanitize: fewer accounts than its header counts');
  }
  if (readonlySigners >= signers) fail('failed to sanitize: no writable signer pays');
  let accounts = keys.length;
  for (const { writableIndexes, readonlyIndexes } of lookups) {
    const loaded = writableIndexes.length + readonlyIndexes.length;
    if (loaded === 0) fail('failed to sanitize: a lookup table without lookups');
    accounts += loaded;
  }
  if (accounts > ACCOUNTS_MAX) fail(`failed to sanitize: more than ${ACCOUNTS_MAX} accounts`);
  for (const { programIdIndex, accounts: indexes } of instructions) {
    const isProgram = programIdIndex > 0 && programIdIndex < keys.length;
    if (!isProgram || indexes.some((index) => index >= accounts)) {
      fail('failed to sanitize accounts offsets correctly');
    }
  }
  if (version === 1) assertSaneV1(message);
}

function assertSaneV1({ header, keys, instructions, config }: Message): void {
  const counts = { signatures: header.numRequiredSignatures, keys: keys.length };
  for (const [name, count] of Object.entries({ ...counts, instructions: instructions.length })) {
    const max = V1_MAX[name as keyof typeof V1_MAX];
    if (count > max) fail(`failed to sanitize: ${count} ${name} (max: ${max})`);
  }
  if (new Set(keys.map(nameOfBytes)).size < keys.length)
    fail('failed to sanitize: a key stands twice');
  const { heapSize } = config;
  if (heapSize === undefined) return;
  const { min, max, step } = HEAP_BYTES;
  if (heapSize < min || heapSize > max || heapSize % step !== 0) {
    fail(`failed to sanitize: a heap of ${heapSize} bytes`);
  }
}
