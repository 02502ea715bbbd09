import { existsSync, readFileSync } from 'node:fs';
import { damaged } from './errors.ts';

// SQLite's write-ahead log has a header, then frames of one page each. Every frame has the header's
// salt and a checksum over everything before it.

const HEADER_BYTES = 32;
const FRAME_HEADER_BYTES = 24;
const PAGE_SIZE_OFFSET = 8;
const SALT_OFFSET = 16;
const SALT_BYTES = 8;
const HEADER_CHECKSUM_OFFSET = 24;
const FRAME_SALT_OFFSET = 8;
const FRAME_CHECKSUM_OFFSET = 16;
/** The magic number of a log, whose lowest bit is the byte order of the checksum's words. */
const MAGIC = 0x377f0682;
const BIG_ENDIAN = 1;

/**
 * SQLite reads its log up to the first wrong frame and drops the rest. That is right after a process
 * was killed during its last write, but a silent loss after damage in the middle. So this checks what
 * follows the first wrong frame: later frames of the same log prove that the damage came afterwards.
 *
 * @param path the log's path; it may be missing
 * @throws LedgerFilesError
 */
export function assertIntactLog(path: string): void {
  if (!existsSync(path)) return;
  const log = readFileSync(path);
  if (log.length < HEADER_BYTES) return;
  const magic = log.readUInt32BE(0);
  if ((magic & ~BIG_ENDIAN) !== MAGIC) throw damaged(path, 'its header is none of SQLite’s');
  const readWord = (magic & BIG_ENDIAN) === BIG_ENDIAN ? readBigEndian : readLittleEndian;
  const frameBytes = FRAME_HEADER_BYTES + log.readUInt32BE(PAGE_SIZE_OFFSET);
  const salt = log.subarray(SALT_OFFSET, SALT_OFFSET + SALT_BYTES);
  let sum = checksum([0, 0], log.subarray(0, HEADER_CHECKSUM_OFFSET), readWord);
  const isHeaderWhole = matches(sum, log, HEADER_CHECKSUM_OFFSET);
  let isBroken = !isHeaderWhole;
  for (let at = HEADER_BYTES; at + frameBytes <= log.length; at += frameBytes) {
    const frame = log.subarray(at, at + frameBytes);
    const isOfLog = frame.subarray(FRAME_SALT_OFFSET, FRAME_CHECKSUM_OFFSET).equals(salt);
    if (isBroken && isOfLog) {
      throw damaged(path, `what was written at byte ${at} comes after something unreadable`);
    }
    if (isBroken) continue;
    sum = checksum(sum, frame.subarray(0, FRAME_SALT_OFFSET), readWord);
    sum = checksum(sum, frame.subarray(FRAME_HEADER_BYTES), readWord);
    isBroken = !isOfLog || !matches(sum, frame, FRAME_CHECKSUM_OFFSET);
  }
}

type ReadWord = (bytes: Buffer, offset: number) => number;
const readBigEndian: ReadWord = (bytes, offset) => bytes.readUInt32BE(offset);
const readLittleEndian: ReadWord = (bytes, offset) => bytes.readUInt32LE(offset);
type Sum = readonly [number, number];

/** The log's own checksum, over pairs of 32-bit words. */
function checksum([first, second]: Sum, bytes: Buffer, readWord: ReadWord): Sum {
  let one = first;
  let two = second;
  for (let offset = 0; offset < bytes.length; offset += 8) {
    one = (one + readWord(bytes, offset) + two) >>> 0;
    two = (two + readWord(bytes, offset + 4) + one) >>> 0;
  }
  return [one, two];
}

function matches([first, second]: Sum, bytes: Buffer, offset: number): boolean {
  return bytes.readUInt32BE(offset) === first && bytes.readUInt32BE(offset + 4) === second;
}
