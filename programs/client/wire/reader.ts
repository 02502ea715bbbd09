/** Bytes that no cluster would accept as a transaction. */
export class MalformedTransactionError extends Error {
  override name = 'MalformedTransactionError';
}

export function fail(reason: string): never {
  throw new MalformedTransactionError(reason);
}

export type Reader = ReturnType<typeof createReader>;

/** Reads bytes from front to back. Each method throws MalformedTransactionError where they end. */
export function createReader(bytes: Uint8Array) {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  let at = 0;

  function take(length: number): Uint8Array {
    if (at + length > bytes.length) fail('ends before its end');
    at += length;
    return bytes.subarray(at - length, at);
  }

  const byte = (): number => {
    take(1);
    return view.getUint8(at - 1);
  };

  /** A count of at most 16 bits: seven bits a byte, lowest first, in the fewest bytes. */
  function count(): number {
    let value = 0;
    for (let shift = 0; shift <= 14; shift += 7) {
      const next = byte();
      value |= (next & 0x7f) << shift;
      if ((next & 0x80) === 0) {
        if (next === 0 && shift > 0) fail('a count is longer than it need be');
        if (value > 0xffff) fail('a count is too large');
        return value;
      }
    }
    return fail('a count is too long');
  }

  return {
    take,
    byte,
    offset: () => at,
    peek: (): number => bytes[at] ?? fail('ends before its end'),
    uint16(): number {
      take(2);
      return view.getUint16(at - 2, true);
    },
    uint32(): number {
      take(4);
      return view.getUint32(at - 4, true);
    },
    uint64(): bigint {
      take(8);
      return view.getBigUint64(at - 8, true);
    },
    /** As many bytes as the count before them says. */
    counted: () => take(count()),
    list<Item>(read: () => Item): Item[] {
      const length = count();
      // Each item has at least one byte, so a larger count is wrong.
      if (length > bytes.length - at) fail('ends before its end');
      return Array.from({ length }, read);
    },
  };
}
