import { createHash } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import type { PublicKey } from '@solana/web3.js';
import { LRUCache } from 'lru-cache';
import { verifySignature, workerRequestMessage } from '../../programs/client/proof.ts';
import { parseAddress } from './contracts.ts';
import { WorkerError } from './errors.ts';

/** A request as it was signed; `body` is the raw bytes that arrived. */
interface SignedRequest {
  kind: 'job' | 'stop';
  headers: IncomingHttpHeaders;
  body: Uint8Array;
  job: PublicKey;
  attempt: number;
}

/** @returns the key that signed; the ledger decides whether it may act for the job */
type Authenticate = (request: SignedRequest) => PublicKey;

const TOLERANCE_MS = 30_000;
/** A worker serves a few gateways, and sometimes a wallet that sends its own jobs. */
export const SIGNERS_MAX = 256;

/**
 * Checks that a request was signed for this worker within the last seconds, over its raw bytes.
 *
 * Requests signed before this process began are refused, because an earlier process of this worker
 * may have proven their attempt.
 *
 * @param worker the address of this worker's account
 * @param now Unix time in milliseconds
 */
export function createAuthentication(worker: PublicKey, now: () => number): Authenticate {
  // The start is derived from the current clock. A clock that was ahead at the start and was then
  // corrected would otherwise make every request look too old.
  const beganMs = performance.now();
  // One object for each address keeps its curve point, which takes a third as long as the check. Only
  // those that have signed: others could push them out.
  const known = new LRUCache<string, PublicKey>({ max: SIGNERS_MAX });

  return ({ kind, headers, body, job, attempt }) => {
    const address = String(headers['svc-signer'] ?? '');
    const signer = known.get(address) ?? parseAddress(address);
    const timestampMs = parseTimestamp(headers['svc-timestamp']);
    const signature = Buffer.from(String(headers['svc-signature'] ?? ''), 'base64');
    if (signer === undefined || timestampMs === undefined)
      throw refusal('The request is not signed');
    const nowMs = now();
    const startedAtMs = nowMs - (performance.now() - beganMs);
    if (Math.abs(nowMs - timestampMs) > TOLERANCE_MS || timestampMs < startedAtMs) {
      throw refusal('The time stamp is too far from the present');
    }
    const bodySha256 = createHash('sha256').update(body).digest();
    const message = workerRequestMessage({ kind, worker, job, attempt, timestampMs, bodySha256 });
    if (!verifySignature({ publicKey: signer, message, signature })) {
      throw refusal('The signature does not match the request');
    }
    known.set(address, signer);
    return signer;
  };
}

function refusal(message: string): WorkerError {
  return new WorkerError('invalid_signature', message);
}

function parseTimestamp(header: string | string[] | undefined): number | undefined {
  return typeof header === 'string' && /^\d{1,15}$/.test(header) ? Number(header) : undefined;
}
