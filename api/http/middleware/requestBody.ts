import { isUtf8 } from 'node:buffer';
import type { IncomingMessage } from 'node:http';
import type { Readable, Transform } from 'node:stream';
import { setImmediate, setTimeout } from 'node:timers/promises';
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib';
import type { Request, RequestHandler, Response } from 'express';
import { REQUEST_LIMITS, scanJson } from '../../../common/format.ts';
import { REQUEST_BYTES_MAX } from '../../../common/workerProtocol.ts';
import { parseJson } from '../../../programs/client/proof.ts';
import { type ChatCompletionRequest, parseChatCompletion } from '../../contracts/chatCompletion.ts';
import { ApiError } from '../../contracts/errors.ts';
import type { LargeBodies } from '../largeBodies/largeBodies.ts';
import type { ReadBody } from '../largeBodies/thread.ts';
import { addressOf } from './burstLimit.ts';
import { walletOf } from './everyRequest.ts';

/** The largest body of any other request than a completion. */
const SMALL_BYTES_MAX = 64 * 1_024;
/**
 * A body with fewer bytes and values is read in about a millisecond, without the thread. Most prompts
 * are so small, so that large bodies of other wallets cannot delay them.
 */
const PROMPT_BYTES_MAX = 256 * 1_024;
export const SMALL_VALUES_MAX = 1_024;
/** Smaller bodies count for no limit: they are no load, even from many connections. */
const UNCOUNTED_BYTES_MAX = 16 * 1_024;

/** So that 4 MiB take about as long as the Retry-After of the refusal. */
const REFUSED_CHUNK_MS = 15;

const rawBodies = new WeakMap<IncomingMessage, Uint8Array>();
const readCompletions = new WeakMap<IncomingMessage, ChatCompletionRequest>();
const EMPTY = new Uint8Array();

/**
 * Parses a body as JSON, of any content type, since some clients send none. It must be UTF-8:
 * other bytes would be replaced silently, and another text answered than was sent.
 *
 * Before any parser, the bytes are scanned for what parsers are slow at.
 *
 * @param largeBodies reads the large bodies of completions. Without it, large bodies are refused
 */
export function parseJsonBody(largeBodies?: LargeBodies): RequestHandler {
  const bytesMax = largeBodies ? REQUEST_BYTES_MAX : SMALL_BYTES_MAX;
  return async (request, response, next) => {
    const { 'content-length': length, 'transfer-encoding': transfer } = request.headers;
    if (length === undefined && transfer === undefined) return next();
    assertUtf8Named(request);
    // Refused before any of it is received.
    if (Number(length) > bytesMax) throw tooLarge(bytesMax);
    const isRead = largeBodies
      ? await readCompletion(request, response, largeBodies)
      : readSmall(request, await receive(request, { bytesMax }));
    if (isRead) next();
  };
}

/** @returns whether the client still waits */
async function readCompletion(
  request: Request,
  response: Response,
  largeBodies: LargeBodies,
): Promise<boolean> {
  const sender = { wallet: walletOf(response) ?? '', address: addressOf(request) };
  let held = undefined as ReturnType<LargeBodies['hold']> | undefined;
  let isLarge = false;
  const onBytes = (bytes: number) => {
    if (bytes <= UNCOUNTED_BYTES_MAX) return;
    held ??= largeBodies.hold(sender);
    held.keep(bytes);
    if (isLarge || bytes <= PROMPT_BYTES_MAX) return;
    isLarge = true;
    // Refused before the rest arrives, where the queue is full.
    held.assertPlace();
  };
  try {
    const chunks = await receive(request, { bytesMax: REQUEST_BYTES_MAX, onBytes });
    if (!isLarge && readSmall(request, chunks, { isLastWord: false })) return true;
    return note(request, await largeBodies.read(chunks, sender, () => !response.destroyed));
  } finally {
    held?.release();
  }
}

/** @returns whether anything was read */
function note(request: Request, read: ReadBody | undefined): boolean {
  switch (read?.kind) {
    case undefined:
      return false;
    case 'not_utf8':
      throw new BodyFault('encoding.invalid');
    case 'not_json':
      throw new BodyFault('json.invalid');
    case 'invalid':
      throw invalid(read);
    case 'request':
      rawBodies.set(request, read.bytes);
      request.body = read.request;
      readCompletions.set(request, read.request);
      return true;
  }
}

/**
 * @param options.isLastWord whether to refuse a body with more values than a small one has
 * @returns whether it is a small body, and was read
 */
function readSmall(
  request: Request,
  chunks: readonly Uint8Array[],
  { isLastWord = true } = {},
): boolean {
  const [only = EMPTY] = chunks;
  const bytes = chunks.length > 1 ? Buffer.concat(chunks) : only;
  if (!isUtf8(bytes)) throw new BodyFault('encoding.invalid');
  // The scan stops at the first value too many. Then the thread reads the body.
  const { values, fault } = scanJson(bytes, { ...REQUEST_LIMITS, values: SMALL_VALUES_MAX });
  if (values > SMALL_VALUES_MAX && !isLastWord) return false;
  if (fault) throw invalid(fault);
  rawBodies.set(request, bytes);
  request.body = bytes.length === 0 ? {} : parse(bytes);
  return true;
}

function parse(bytes: Uint8Array): unknown {
  try {
    // The decoder drops a byte order mark, which some clients send.
    return parseJson(new TextDecoder().decode(bytes));
  } catch (cause) {
    throw new BodyFault('json.invalid', cause);
  }
}

/**
 * Receives a body and decompresses it. Of a large body, each turn of the event loop takes one chunk, so
 * that it does not delay other requests.
 *
 * @param options.onBytes called with how many have arrived; what it throws ends the body
 */
async function receive(
  request: Request,
  { bytesMax, onBytes }: { bytesMax: number; onBytes?: (bytes: number) => void },
): Promise<Uint8Array[]> {
  const source = decompressed(request);
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  let refusal: unknown;
  try {
    // Destroying the request would end its response, too.
    for await (const chunk of source.iterator({ destroyOnReturn: false })) {
      bytes += chunk.length;
      if (bytes > bytesMax) throw tooLarge(bytesMax);
      refusal ??= refusalOf(() => onBytes?.(bytes));
      if (refusal === undefined) chunks.push(chunk);
      else chunks.length = 0;
      // Most clients read an answer only once they have sent everything.
      if (refusal !== undefined) await setTimeout(REFUSED_CHUNK_MS);
      else if (bytes > SMALL_BYTES_MAX) await setImmediate();
    }
    if (refusal !== undefined) throw refusal;
    return chunks;
  } catch (error) {
    if (source !== request) source.destroy();
    // Reads and drops the rest, so that the answer is not lost with the connection.
    request.unpipe();
    request.resume();
    if (error instanceof ApiError) throw error;
    throw new BodyFault(request.errored ? 'request.aborted' : 'encoding.malformed', error);
  }
}

function refusalOf(work: () => void): unknown {
  try {
    work();
    return undefined;
  } catch (error) {
    return error;
  }
}

const DECOMPRESSORS: Readonly<Record<string, () => Transform>> = {
  gzip: createGunzip,
  deflate: createInflate,
  br: createBrotliDecompress,
};

function decompressed(request: Request): Readable {
  const encoding = request.get('content-encoding')?.toLowerCase() ?? 'identity';
  if (encoding === 'identity') return request;
  const decompressor = Object.hasOwn(DECOMPRESSORS, encoding) && DECOMPRESSORS[encoding]?.();
  if (!decompressor) throw new BodyFault('encoding.unsupported');
  // A pipe passes no error on, and an aborted request ends only by its error.
  request.once('error', (error) => decompressor.destroy(error));
  return request.pipe(decompressor);
}

const CHARSET = /;\s*charset=(?:"([^"]*)"|([^\s;"]*))/i;
/** Many clients write it without the hyphen. */
const UTF8 = /^utf-?8$/i;

function assertUtf8Named(request: Request): void {
  const [, quoted, bare] = CHARSET.exec(request.get('content-type') ?? '') ?? [];
  const charset = quoted ?? bare ?? '';
  if (charset !== '' && !UTF8.test(charset)) throw new BodyFault('charset.unsupported');
}

function invalid({ message, param }: { message: string; param: string | undefined }): ApiError {
  return new ApiError('invalid_request', message, param === undefined ? {} : { param });
}

function tooLarge(bytesMax: number): ApiError {
  const size = bytesMax === REQUEST_BYTES_MAX ? '4 MiB' : '64 KiB';
  return new ApiError('invalid_request', `The body is larger than ${size}.`);
}

/** The body as it arrived, after decompression. */
export function rawBodyOf(request: IncomingMessage): Uint8Array {
  return rawBodies.get(request) ?? EMPTY;
}

/**
 * The body of a completion. A large one was read by its contract already, in a thread.
 *
 * @throws ApiError `invalid_request`
 */
export function completionOf(request: Request): ChatCompletionRequest {
  return readCompletions.get(request) ?? parseChatCompletion(request.body);
}

const FAULTS = {
  'json.invalid': 'The body is not valid JSON.',
  'request.aborted': 'The body was not sent completely.',
  'encoding.unsupported': 'This content encoding is not supported.',
  'encoding.malformed': 'The body is malformed: it is not in the content encoding that it names.',
  'encoding.invalid': 'The body is not valid UTF-8.',
  'charset.unsupported': 'The charset of the body must be utf-8.',
} as const;

/** A body that cannot be read. */
class BodyFault extends ApiError<'invalid_request'> {
  constructor(kind: keyof typeof FAULTS, cause?: unknown) {
    super('invalid_request', FAULTS[kind], { cause });
  }
}
