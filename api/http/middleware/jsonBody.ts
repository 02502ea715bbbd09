import { isUtf8 } from 'node:buffer';
import type { IncomingMessage } from 'node:http';
import type { RequestHandler } from 'express';
import express from 'express';
import { ApiError } from '../contracts/errors.ts';

const BODY_BYTES_MAX = 4 * 1_024 * 1_024;
const rawBodies = new WeakMap<IncomingMessage, Uint8Array>();
const EMPTY = new Uint8Array();
/** As many clients spell it. */
const UTF8 = /(;\s*charset=)(?:utf8|"utf8")(?=\s*(?:;|$))/i;

/**
 * Any content type: some clients send none, and the body itself tells whether it is JSON. It must be
 * UTF-8, as JSON is: other bytes would be replaced silently, and another text answered than was sent.
 */
export function parseJsonBody(): RequestHandler {
  const parse = express.json({
    limit: BODY_BYTES_MAX,
    strict: false,
    type: () => true,
    verify: (request, _response, bytes, charset) => {
      if (charset !== 'utf-8') throw new BodyFault('charset.unsupported');
      if (!isUtf8(bytes)) throw new BodyFault('encoding.invalid');
      rawBodies.set(request, bytes);
    },
  });
  return (request, response, next) => {
    const contentType = request.get('content-type');
    // The parser knows the charset by its proper name alone.
    if (contentType) request.headers['content-type'] = contentType.replace(UTF8, '$1utf-8');
    // The parser would read such a body to its end before it refused it.
    if (Number(request.get('content-length')) > BODY_BYTES_MAX) {
      throw new BodyFault('entity.too.large');
    }
    parse(request, response, next);
  };
}

/** The body as it arrived, after decompression. */
export function rawBodyOf(request: IncomingMessage): Uint8Array {
  return rawBodies.get(request) ?? EMPTY;
}

/** By the `type` of what express's body parser throws, ours included. */
const bodyFaults: Record<string, string> = {
  'entity.parse.failed': 'The body is not valid JSON.',
  'entity.too.large': 'The body is larger than 4 MiB.',
  'request.size.invalid': 'The body does not have the length it announced.',
  'request.aborted': 'The body was not sent completely.',
  'encoding.unsupported': 'This content encoding is not supported.',
  'encoding.invalid': 'The body is not valid UTF-8.',
  'charset.unsupported': 'The charset of the body must be utf-8.',
};

class BodyFault extends Error {
  readonly type: keyof typeof bodyFaults;

  constructor(type: keyof typeof bodyFaults) {
    super(type);
    this.type = type;
  }
}

/** What a client is told of a body that could not be read; undefined for any other error. */
export function describeBodyFault(thrown: unknown): ApiError | undefined {
  const type = (thrown as { type?: unknown } | null)?.type;
  const message = typeof type === 'string' ? bodyFaults[type] : undefined;
  return message ? new ApiError('invalid_request', message, { cause: thrown }) : undefined;
}
