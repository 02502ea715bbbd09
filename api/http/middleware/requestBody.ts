import { isUtf8 } from 'node:buffer';
import type { IncomingMessage } from 'node:http';
import type { Readable, Transform } from 'node:stream';
import { setImmediate } from 'node:timers/promises';
import {
  constants,
  createBrotliDecompress,
  createGunzip,
  createInflate,
  createZstdDecompress,
} from 'node:zlib';
import type { Request, RequestHandler, Response } from 'express';
import { REQUEST_LIMITS, scanJson } from '../../../common/format.ts';
import { REQUEST_BYTES_MAX } from '../../../common/workerProtocol.ts';
import { parseJson } from '../../../programs/client/parseJson.ts';
import { ApiError } from '../../contracts/errors.ts';
import type { CompletionForm } from '../../contracts/route.ts';
import type { LargeBodies } from '../largeBodies/largeBodies.ts';
import { addressOf } from './authentication.ts';
import { walletOf } from './everyRequest.ts';

/** The largest body of any other request than a completion. */
const SMALL_BYTES_MAX = 64 * 1_024;
/**
 * A body with fewer bytes and values is parsed in about a millisecond, without a turn. Most prompts are
 * so small, so that large bodies of other wallets cannot delay them.
 */
const PROMPT_BYTES_MAX = 256 * 1_024;
export const SMALL_VALUES_MAX = 1_024;
const SMALL_LIMITS = { ...REQUEST_LIMITS, values: SMALL_VALUES_MAX };
/** Smaller bodies are read for every live key and count for no limit: they are no load. */
const FREE_BYTES_MAX = 16 * 1_024;

const rawBodies = new WeakMap<IncomingMessage, Uint8Array>();
const EMPTY = new Uint8Array();

/**
 * Parses a body as JSON, of any content type, since some clients send none. It must be UTF-8:
 * other bytes would be replaced silently, and another text answered than was sent.
 *
 * Before any parser, the bytes are scanned for what parsers are slow at.
 *
 * @param completion for one: it may be large, and is parsed by its contract too
 */
export function parseJsonBody(
  completion?: CompletionBodies & { form: CompletionForm },
): RequestHandler {
  const bytesMax = completion ? REQUEST_BYTES_MAX : SMALL_BYTES_MAX;
  return async (request, response, next) => {
    const { 'content-length': length, 'transfer-encoding': transfer } = request.headers;
    if (length === undefined && transfer === undefined) return next();
    assertUtf8Named(request);
    // Refused before any of it is received.
    if (Number(length) > bytesMax) throw tooLarge(bytesMax);
    const body = completion
      ? await readCompletion(request, response, completion)
      : await readSmall(request);
    if (!body) return;
    rawBodies.set(request, body.bytes);
    request.body = body.value;
    next();
  };
}

/** How the bodies of completions are read. */
export interface CompletionBodies {
  largeBodies: LargeBodies;
  parsers: Readonly<Record<CompletionForm, (body: unknown) => unknown>>;
}

interface ReadBody {
  bytes: Uint8Array;
  value: unknown;
}

async function readSmall(request: Request): Promise<ReadBody> {
  const bytes = await receive(request, SMALL_BYTES_MAX);
  return { bytes, value: parse(bytes, scanJson(bytes, SMALL_LIMITS)) };
}

/** @returns undefined where the client has left */
async function readCompletion(
  request: Request,
  response: Response,
  { largeBodies, parsers, form }: CompletionBodies & { form: CompletionForm },
): Promise<ReadBody | undefined> {
  const parseBody = parsers[form];
  const sender = { wallet: walletOf(response) ?? '', address: addressOf(request) };
  if (mayBeLarge(request)) await largeBodies.admit(sender.wallet);
  let held = undefined as ReturnType<LargeBodies['hold']> | undefined;
  try {
    const bytes = await receive(request, REQUEST_BYTES_MAX, (arrived) => {
      if (arrived <= FREE_BYTES_MAX) return;
      held ??= largeBodies.hold(sender);
      held.keep(arrived);
    });
    if (bytes.length <= PROMPT_BYTES_MAX) {
      // It stops at the first value too many.
      const scan = scanJson(bytes, SMALL_LIMITS);
      if (scan.values <= SMALL_VALUES_MAX) {
        return { bytes, value: parseBody(parse(bytes, scan)) };
      }
    }
    return await largeBodies.inTurn(sender.wallet, () => {
      if (response.destroyed) return undefined;
      return { bytes, value: parseBody(parse(bytes, scanJson(bytes))) };
    });
  } finally {
    held?.release();
  }
}

/** Whether it is, or does not say how large it is. */
function mayBeLarge({ headers }: Request): boolean {
  const { 'content-length': length, 'content-encoding': encoding = 'identity' } = headers;
  const isKnown = length !== undefined && encoding.toLowerCase() === 'identity';
  return !isKnown || Number(length) > FREE_BYTES_MAX;
}

function parse(bytes: Uint8Array, { fault }: ReturnType<typeof scanJson>): unknown {
  if (!isUtf8(bytes)) throw unreadable('The body is not valid UTF-8.');
  if (fault) throw invalid(fault);
  if (bytes.length === 0) return {};
  try {
    // The decoder drops a byte order mark, which some clients send.
    return parseJson(new TextDecoder().decode(bytes));
  } catch (cause) {
    throw unreadable('The body is not valid JSON.', cause);
  }
}

/**
 * Receives a body and decompresses it. Of a large body, each turn of the event loop takes one chunk, so
 * that it does not delay other requests.
 *
 * @param onBytes called with how many have arrived; what it throws ends the body
 */
async function receive(
  request: Request,
  bytesMax: number,
  onBytes: (bytes: number) => void = () => undefined,
): Promise<Uint8Array> {
  const source = decompressed(request);
  const chunks: Buffer[] = [];
  let bytes = 0;
  try {
    // Destroying the request would end its response, too.
    for await (const chunk of source.iterator({ destroyOnReturn: false })) {
      bytes += chunk.length;
      if (bytes > bytesMax) throw tooLarge(bytesMax);
      onBytes(bytes);
      chunks.push(chunk);
      if (bytes > SMALL_BYTES_MAX) await setImmediate();
    }
  } catch (error) {
    if (source !== request) {
      request.unpipe();
      source.destroy();
    }
    if (error instanceof ApiError) throw error;
    const fault = request.errored
      ? 'The body was not sent completely.'
      : 'The body is malformed: it is not in the content encoding that it names.';
    throw unreadable(fault, error);
  }
  const [only = EMPTY] = chunks;
  return chunks.length > 1 ? Buffer.concat(chunks) : only;
}

const DECOMPRESSORS: Readonly<Record<string, () => Transform>> = {
  gzip: createGunzip,
  deflate: createInflate,
  br: createBrotliDecompress,
  // What every decoder has to support. A larger window is memory for nothing.
  zstd: () => createZstdDecompress({ params: { [constants.ZSTD_d_windowLogMax]: 23 } }),
};
const ENCODINGS = Object.keys(DECOMPRESSORS).join(', ');

function decompressed(request: Request): Readable {
  const encoding = request.get('content-encoding')?.toLowerCase() ?? 'identity';
  if (encoding === 'identity') return request;
  const decompressor = Object.hasOwn(DECOMPRESSORS, encoding) && DECOMPRESSORS[encoding]?.();
  if (!decompressor) {
    request.res?.set('accept-encoding', ENCODINGS);
    throw unreadable(`This content encoding is not supported. Those that are: ${ENCODINGS}.`);
  }
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
  if (charset !== '' && !UTF8.test(charset))
    throw unreadable('The charset of the body must be utf-8.');
}

type Fault = NonNullable<ReturnType<typeof scanJson>['fault']>;

function invalid({ message, param, details }: Fault): ApiError {
  return new ApiError('invalid_request', message, { param, details });
}

function tooLarge(bytesMax: number): ApiError {
  const size = bytesMax === REQUEST_BYTES_MAX ? '2 MiB' : '64 KiB';
  return new ApiError('invalid_request', `The body is larger than ${size}.`, {
    details: { max_bytes: bytesMax },
  });
}

/** The body as it arrived, after decompression. */
export function rawBodyOf(request: IncomingMessage): Uint8Array {
  return rawBodies.get(request) ?? EMPTY;
}

function unreadable(message: string, cause?: unknown): ApiError {
  return new ApiError('invalid_request', message, { cause });
}
