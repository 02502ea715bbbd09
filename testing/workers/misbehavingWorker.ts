import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Keypair, PublicKey } from '@solana/web3.js';
import type { RequestHandler, Response } from 'express';
import express from 'express';
import { createLogger } from '../../common/logger.ts';
import { delay } from '../../common/wait.ts';
import { PROGRAM_ID } from '../../programs/client/addresses.ts';
import type { Rpc } from '../../programs/client/rpc/rpc.ts';
import { createWorker, type WorkerIdentity } from '../../worker/app.ts';
import { createBuiltinEngine } from '../../worker/engine/builtin.ts';
import type { Engine } from '../../worker/engine/engine.ts';
import { createProofSigner, type SignProof } from '../../worker/jobs/proofSigner.ts';
import type { Terms } from '../../worker/ledger/terms.ts';

/** A worker's behaviour; all but `honest` are wrong, slow or hostile. */
export type WorkerMode =
  | 'honest'
  /** Takes the job and sends nothing. */
  | 'never_answers'
  /** Cuts the connection after some content. */
  | 'dies_midstream'
  /** Signs, correctly, another text than the one it sent. */
  | 'wrong_hash'
  /** Signs, correctly, another request than the one it got. */
  | 'another_request'
  /** Sends a proof whose signature does not verify. */
  | 'forged_signature'
  /** Sends a finish chunk and a valid proof of no text at all. */
  | 'empty_output'
  /** Ends its stream after the finish chunk. */
  | 'no_proof'
  /** Sends its first content after `SLOW_FIRST_TOKEN_MS`. */
  | 'slow_first_token'
  /** Signs ten times as many tokens as it sent. */
  | 'inflates_count'
  /** Answers every job with 503. */
  | 'refuses'
  /** Answers every job with 503 and Retry-After. */
  | 'is_full'
  /** Answers every job with 502. */
  | 'fails'
  /** Reports every conversation as too long. */
  | 'counts_more'
  /** Continues until it is stopped, reaches the token limit, or gets another mode. */
  | 'endless'
  /** Resets the connection at once. */
  | 'resets'
  /** Goes silent after some content, with the connection open. */
  | 'hangs_midstream'
  /** Sends events that the protocol does not know. */
  | 'sends_nonsense'
  /** Sends one event without an end. */
  | 'floods'
  /** Claims that the job is not open. */
  | 'claims_not_open';

const SLOW_FIRST_TOKEN_MS = 300;
const FULL_SECONDS = 25;

const ENDLESS_TOKEN_MS = 10;
/** Role and some content, so that a client has seen text. */
const EVENTS_BEFORE_DEATH = 4;
const FLOOD_PIECE_CHARACTERS = 65_536;

/** A request as an eavesdropper sees it. */
export interface CapturedRequest {
  path: string;
  receivedAtMs: number;
  headers: IncomingHttpHeaders;
  /** What has arrived of its body. */
  body(): Buffer;
}

export interface MisbehavingWorker {
  /** The worker's endpoint, for the registration. */
  url: string;
  /** The address of the Worker account. */
  address: PublicKey;
  /** Changes the behaviour for later jobs. */
  setMode(mode: WorkerMode): void;
  /** Every POST so far, in order. */
  requests: CapturedRequest[];
  /** Cuts every connection; the worker goes on to take jobs. */
  drop(): void;
  close(): Promise<void>;
}

interface MisbehavingWorkerOptions {
  /** A function draws the mode of each job, for a worker that has one job at a time. */
  mode: WorkerMode | (() => WorkerMode);
  /** Answers instead of the built-in engine, in every mode. */
  engine?: Engine;
  rpc: Rpc;
  authority: PublicKey;
  proofKey: Keypair;
  programId?: PublicKey;
  capacity?: number;
  /** By default it takes anybody's jobs, at any share. */
  terms?: Terms;
  port?: number;
}

/** Starts a worker in this process: the product's app with faults injected. */
export async function startMisbehavingWorker(
  options: MisbehavingWorkerOptions,
): Promise<MisbehavingWorker> {
  const { rpc, authority, proofKey, programId = PROGRAM_ID, capacity = 64, port = 0 } = options;
  const { terms = { gateways: 'any', shareMinBasisPoints: 0 } } = options;
  const { mode: given } = options;
  const drawMode = typeof given === 'function' ? given : () => mode;
  let mode: WorkerMode = typeof given === 'function' ? 'honest' : given;
  const requests: MisbehavingWorker['requests'] = [];
  const identity: WorkerIdentity = { programId, authority, proofKey, capacity, terms };
  const worker = createWorker({
    identity,
    rpc,
    engine: options.engine ?? createFaultyEngine(() => mode),
    logger: createLogger({ name: 'misbehaving-worker', level: 'silent' }),
    signProof: (outcome) => {
      const sign = createProofSigner({ programId, worker: worker.address, proofKey });
      return corruptProof(mode, sign)(outcome);
    },
  });

  const app = express();
  app.post(/.*/, (request, _response, next) => {
    const { path, headers } = request;
    const parts: Buffer[] = [];
    request.on('data', (part: Buffer) => void parts.push(part));
    requests.push({ path, receivedAtMs: Date.now(), headers, body: () => Buffer.concat(parts) });
    if (path === '/jobs') mode = drawMode();
    next();
  });
  app.post(
    '/jobs',
    filterResponse(() => mode),
  );
  app.use(worker.app);
  const server = createServer(app).listen(port, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    address: worker.address,
    setMode: (next) => {
      mode = next;
    },
    requests,
    drop: () => server.closeAllConnections(),
    async close() {
      server.close();
      await worker.close(0);
      server.closeAllConnections();
    },
  };
}

function createFaultyEngine(mode: () => WorkerMode): Engine {
  const builtin = createBuiltinEngine({ tokenDelayMs: 0 });
  return {
    kind: 'builtin',
    async *generate(chat, limits) {
      const { signal } = limits;
      if (mode() === 'slow_first_token') await delay(SLOW_FIRST_TOKEN_MS, signal);
      if (mode() !== 'endless') {
        yield* builtin.generate(chat, limits);
        return;
      }
      while (mode() === 'endless') {
        await delay(ENDLESS_TOKEN_MS, signal);
        signal.throwIfAborted();
        yield { type: 'text', text: 'again ' };
      }
      yield { type: 'end', finishReason: 'stop' };
    },
  };
}

function corruptProof(mode: WorkerMode, signProof: SignProof): SignProof {
  return async (outcome) => {
    switch (mode) {
      case 'wrong_hash':
        return signProof({ ...outcome, outputHash: sha256('another text') });
      case 'another_request':
        return signProof({ ...outcome, statement: sha256('another request') });
      case 'empty_output':
        return signProof({ ...outcome, outputHash: sha256(''), completionTokens: 0 });
      case 'inflates_count':
        return signProof({ ...outcome, completionTokens: outcome.completionTokens * 10 });
      case 'forged_signature': {
        const proof = await signProof(outcome);
        const signature = Buffer.from(proof.signature, 'base64');
        signature.writeUInt8(signature.readUInt8(0) ^ 1, 0);
        return { ...proof, signature: signature.toString('base64') };
      }
      default:
        return signProof(outcome);
    }
  };
}

/** The status and the error that answer every job. */
const REFUSALS: Partial<Record<WorkerMode, readonly [status: number, code: string]>> = {
  claims_not_open: [409, 'job_not_open'],
  refuses: [503, 'no_free_slot'],
  is_full: [503, 'no_free_slot'],
  fails: [502, 'upstream_failed'],
  counts_more: [400, 'context_length_exceeded'],
};

/** The app writes whole events, so that single events can be dropped. */
function filterResponse(mode: () => WorkerMode): RequestHandler {
  return (request, response, next) => {
    const [status, code] = REFUSALS[mode()] ?? [];
    if (mode() === 'is_full') response.set('retry-after', String(FULL_SECONDS));
    if (status) return void response.status(status).json({ error: { code, message: 'Refused' } });
    switch (mode()) {
      case 'never_answers':
        return;
      case 'resets':
        request.socket.resetAndDestroy();
        return;
      case 'sends_nonsense':
        response.type('text/event-stream').end('event: proof\ndata: {"output_hash": 7}\n\n');
        return;
      case 'floods':
        flood(response);
        return;
      case 'dies_midstream':
        // A reset would lose what the caller has not read, as if the worker had sent nothing.
        endAfterEvents(response, () => setImmediate(() => response.socket?.end()));
        break;
      case 'hangs_midstream':
        endAfterEvents(response, () => undefined);
        break;
      case 'empty_output':
        filterEvents(response, (event) => !event.includes('"content":'));
        break;
      case 'no_proof':
        filterEvents(response, (event) => !event.startsWith('event: proof'));
        break;
    }
    next();
  };
}

function endAfterEvents(response: Response, end: () => unknown): void {
  let events = 0;
  filterEvents(response, () => {
    events += 1;
    if (events === EVENTS_BEFORE_DEATH) {
      response.end = () => response;
      end();
    }
    return events <= EVENTS_BEFORE_DEATH;
  });
}

/** More than any event may have, as fast as it is taken. */
function flood(response: Response): void {
  response.type('text/event-stream').write('data: ');
  const piece = 'x'.repeat(FLOOD_PIECE_CHARACTERS);
  const pour = (): void => {
    if (response.destroyed) return;
    if (response.write(piece)) setImmediate(pour);
    else response.once('drain', pour);
  };
  pour();
}

function filterEvents(response: Response, isSent: (event: string) => boolean): void {
  const write: (events: string, onSent?: () => void) => boolean = response.write.bind(response);
  response.write = (events: string, onSent?: unknown) =>
    write(
      events
        .split(/(?<=\n\n)/)
        .filter(isSent)
        .join(''),
      onSent as () => void,
    );
}

function sha256(text: string): Uint8Array {
  return Uint8Array.from(createHash('sha256').update(text).digest());
}
