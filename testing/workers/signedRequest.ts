import { createHash } from 'node:crypto';
import type { Keypair, PublicKey } from '@solana/web3.js';
import { sign, workerRequestMessage } from '../../programs/client/proof.ts';

/** A request to a worker, as its gateway or anybody else may sign it. */
export interface SignedRequest {
  url: string;
  kind: 'job' | 'stop';
  worker: PublicKey;
  job: PublicKey;
  signer: Keypair;
  content: Record<string, unknown>;
  timestampMs?: number;
  /** Headers that differ from what is signed. */
  headers?: Record<string, string>;
  /** What is signed other than the request itself. */
  signed?: Partial<Parameters<typeof workerRequestMessage>[0]>;
  signal?: AbortSignal | null;
}

/** Posts to a worker as docs/worker-protocol.md says. */
export function postSigned(request: SignedRequest): Promise<Response> {
  const { url, kind, worker, job, signer, content, signal = null } = request;
  const { timestampMs = Date.now() } = request;
  const body = JSON.stringify(content);
  const message = workerRequestMessage({
    kind,
    worker,
    job,
    attempt: Number(content.attempt),
    timestampMs,
    bodySha256: createHash('sha256').update(body).digest(),
    ...request.signed,
  });
  const path = kind === 'job' ? '/jobs' : `/jobs/${job.toBase58()}/stop`;
  return fetch(`${url}${path}`, {
    method: 'POST',
    body,
    signal,
    headers: {
      'content-type': 'application/json',
      'svc-signer': signer.publicKey.toBase58(),
      'svc-timestamp': String(timestampMs),
      'svc-signature': Buffer.from(sign(message, signer)).toString('base64'),
      ...request.headers,
    },
  });
}
