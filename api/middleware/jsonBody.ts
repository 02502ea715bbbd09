import type { IncomingMessage } from 'node:http';
import express, { type RequestHandler } from 'express';

const BODY_BYTES_MAX = 4 * 1_024 * 1_024;
const rawBodies = new WeakMap<IncomingMessage, Uint8Array>();
const EMPTY = new Uint8Array();

/** Any content type: some clients send none, and the body itself tells whether it is JSON. */
export function parseJsonBody(): RequestHandler {
  return express.json({
    limit: BODY_BYTES_MAX,
    strict: false,
    type: () => true,
    verify: (request, _response, bytes) => void rawBodies.set(request, bytes),
  });
}

/** The body as it arrived, after decompression. */
export function rawBodyOf(request: IncomingMessage): Uint8Array {
  return rawBodies.get(request) ?? EMPTY;
}
