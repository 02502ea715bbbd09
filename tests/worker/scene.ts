import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import anchor from '@coral-xyz/anchor';
import { Keypair, PublicKey } from '@solana/web3.js';
import { createLogger, type Logger } from '../../common/logger.ts';
import { createAddresses, PROGRAM_ID } from '../../programs/client/addresses.ts';
import { createJobId, formatJobId } from '../../programs/client/jobId.ts';
import { sign, workerRequestMessage } from '../../programs/client/proof.ts';
import { readClockSeconds, setClockSeconds } from '../../testing/ledger/ledger.ts';
import { createWorker } from '../../worker/app.ts';
import { createBuiltinEngine } from '../../worker/engine/builtin.ts';
import type { Engine } from '../../worker/engine/engine.ts';
import { paddedKeys, paddedText, startWritableLedger } from './writableLedger.ts';

export const MODEL_ID = 'test-8b';
export const TOKEN_LIMIT = 200;
/** The ledger's time since the worker began: longer than a job lives. */
const WORKER_AGE_SECONDS = 200n;

const MINIMUM_STAKE = new anchor.BN(1_000);

const addresses = createAddresses();
const creditAccount = addresses.creditAccount(Keypair.generate().publicKey);

export interface LockedJob {
  id: string;
  address: PublicKey;
}

/** Fields of a Job as in the IDL, and its age by the ledger's time. */
export type JobFields = Record<string, unknown> & { lockedSecondsAgo?: number };

/** Everything of a request that a caller may get wrong. */
export interface RequestChanges {
  /** Where to send it, other than to the scene's worker. */
  url?: string;
  signer?: Keypair;
  body?: Record<string, unknown>;
  chat?: Record<string, unknown>;
  headers?: Record<string, string>;
  signed?: Partial<Parameters<typeof workerRequestMessage>[0]>;
  timestampMs?: number;
  signal?: AbortSignal;
}

/** A worker that listens, registered on a ledger with one Gateway and one model. */
export async function openScene({
  engine = createBuiltinEngine({ tokenDelayMs: 0 }),
  capacity = 8,
  logger = createLogger({ name: 'worker', level: 'silent' }),
}: {
  engine?: Engine;
  capacity?: number;
  logger?: Logger;
} = {}) {
  const ledger = await startWritableLedger();
  const keys = {
    proof: Keypair.generate(),
    authority: Keypair.generate(),
    hotSigner: Keypair.generate(),
    operator: Keypair.generate(),
  };
  const gateway = addresses.gateway(keys.operator.publicKey);
  const model = addresses.model(MODEL_ID);
  const worker = addresses.worker(keys.authority.publicKey);

  async function writeWorker(fields: Record<string, unknown> = {}): Promise<void> {
    await ledger.write(worker, 'Worker', {
      authority: keys.authority.publicKey,
      proof_key: keys.proof.publicKey,
      stake_tokens: MINIMUM_STAKE,
      models: paddedKeys([model], 16),
      models_len: 1,
      ...fields,
    });
  }

  async function writeGateway(signers: PublicKey[]): Promise<void> {
    await ledger.write(gateway, 'Gateway', {
      operator: keys.operator.publicKey,
      signers_len: signers.length,
      signers: paddedKeys(signers, 8),
    });
  }

  await ledger.write(model, 'Model', { id: paddedText(MODEL_ID, 64), id_len: MODEL_ID.length });
  await ledger.write(addresses.config, 'Config', { minimum_stake_tokens: MINIMUM_STAKE });
  await writeWorker();
  await writeGateway([keys.hotSigner.publicKey]);

  const now = { offsetMs: 0 };
  const closes: (() => Promise<void>)[] = [];

  /** A process of the worker that began before everything that is locked from now on. */
  async function start() {
    const running = createWorker({
      identity: {
        programId: PROGRAM_ID,
        authority: keys.authority.publicKey,
        proofKey: keys.proof,
        capacity,
      },
      rpc: ledger.rpc,
      engine,
      logger,
      now: () => Date.now() + now.offsetMs,
    });
    const server = createServer(running.app).listen(0, '127.0.0.1');
    await once(server, 'listening');
    closes.push(async () => {
      server.close();
      await running.close(0);
      server.closeAllConnections();
    });
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    await fetch(`${url}/health`);
    return { url, close: running.close };
  }

  const { url, close: closeWorker } = await start();
  await setClockSeconds(
    ledger.connection,
    (await readClockSeconds(ledger.connection)) + WORKER_AGE_SECONDS,
  );

  /** Writes a Job that waits for this worker, locked just now. */
  async function lock(fields: JobFields = {}, owner?: PublicKey): Promise<LockedJob> {
    const { bytes, address } = createJobId({ nowMs: Date.now(), creditAccount });
    await writeJob({ id: formatJobId(bytes), address }, fields, owner);
    return { id: formatJobId(bytes), address };
  }

  async function writeJob(
    job: LockedJob,
    { lockedSecondsAgo = 0, ...fields }: JobFields = {},
    owner?: PublicKey,
  ): Promise<void> {
    const lockedAt = Number(await readClockSeconds(ledger.connection)) - lockedSecondsAgo;
    const defaults = {
      job_id: [...Buffer.from(job.id.slice('job_'.length), 'hex')],
      credit_account: creditAccount,
      controller: gateway,
      model,
      token_limit: TOKEN_LIMIT,
      locked_at: new anchor.BN(lockedAt),
      job_timeout_seconds: 120,
    };
    await ledger.write(job.address, 'Job', { ...defaults, ...fields }, owner);
  }

  function post(
    kind: 'job' | 'stop',
    path: string,
    job: LockedJob,
    content: Record<string, unknown>,
    changes: RequestChanges,
  ): Promise<Response> {
    const signer = changes.signer ?? keys.hotSigner;
    const body = JSON.stringify(content);
    const timestampMs = changes.timestampMs ?? Date.now();
    const message = workerRequestMessage({
      kind,
      worker,
      job: job.address,
      attempt: Number(content.attempt),
      timestampMs,
      bodySha256: createHash('sha256').update(body).digest(),
      ...changes.signed,
    });
    return fetch(`${changes.url ?? url}${path}`, {
      method: 'POST',
      body,
      signal: changes.signal ?? null,
      headers: {
        'content-type': 'application/json',
        'svc-signer': signer.publicKey.toBase58(),
        'svc-timestamp': String(timestampMs),
        'svc-signature': Buffer.from(sign(message, signer)).toString('base64'),
        ...changes.headers,
      },
    });
  }

  return {
    ...{ url, keys, worker, gateway, ledger, now, lock, writeJob, writeWorker, writeGateway },
    close: async () => {
      for (const close of closes) await close();
      await ledger.close();
    },
    closeWorker,
    /** Another process of the same worker, which knows nothing of the first; returns its address. */
    startAgain: async () => (await start()).url,
    ask(job: LockedJob, changes: RequestChanges = {}): Promise<Response> {
      const content = {
        job_id: job.id,
        job_address: job.address.toBase58(),
        program_id: PROGRAM_ID.toBase58(),
        worker_address: worker.toBase58(),
        attempt: 1,
        token_limit: TOKEN_LIMIT,
        chat: {
          model: MODEL_ID,
          messages: [{ role: 'user', content: 'Say hello to the harbour.' }],
          ...changes.chat,
        },
        ...changes.body,
      };
      return post('job', '/jobs', job, content, changes);
    },
    stop(job: LockedJob, changes: RequestChanges = {}): Promise<Response> {
      const path = `/jobs/${job.address.toBase58()}/stop`;
      return post('stop', path, job, { attempt: 1, ...changes.body }, changes);
    },
  };
}

export type Scene = Awaited<ReturnType<typeof openScene>>;

/** The code of a refused request. */
export async function codeOf(response: Response): Promise<string> {
  const { error } = (await response.json()) as { error: { code: string } };
  return error.code;
}

/** An address that nobody has used. */
export function freshAddress(): PublicKey {
  return new PublicKey(randomBytes(32));
}
