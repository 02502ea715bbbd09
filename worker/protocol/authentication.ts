import { createHash } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import type { PublicKey } from '@solana/web3.js';
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

/** @returns the key that signed; whether it may act for the job is for the ledger to say */
type Authenticate = (request: SignedRequest) => PublicKey;

const TOLERANCE_MS = 30_000;

/**
 * Checks that a request was signed for this worker, a moment ago, byte for byte as it arrived.
 *
 * Requests signed before this process began are refused: it cannot know whether an earlier life of
 * this worker has already proven that attempt.
 *
 * @param worker the address of this worker's account
 * @param now Unix time in milliseconds
 */
export function createAuthentication(worker: PublicKey, now: () => number): Authenticate {
  // By the present clock: one that was ahead at the start, and was then put right, would have every
  // request refused until it shows that time again.
  const beganMs = performance.now();

  return ({ kind, headers, body, job, attempt }) => {
    const signer = parseAddress(String(headers['svc-signer'] ?? ''));
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
    return signer;
  };
}

function refusal(message: string): WorkerError {
  return new WorkerError('invalid_signature', message);
}

function parseTimestamp(header: string | string[] | undefined): number | undefined {
  return typeof header === 'string' && /^\d{1,15}$/.test(header) ? Number(header) : undefined;
}
