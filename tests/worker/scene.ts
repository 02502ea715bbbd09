import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import anchor from '@coral-xyz/anchor';
import { Keypair, PublicKey } from '@solana/web3.js';
import { createLogger, type Logger } from '../../common/logger.ts';
import { createAddresses, PROGRAM_ID } from '../../programs/client/addresses.ts';
import {
  ARBITRATION_WINDOW_SECONDS,
  DISPUTE_WINDOW_SECONDS,
  JOB_TIMEOUT_SECONDS,
} from '../../programs/client/generated/constants.ts';
import { createJobId, formatJobId } from '../../programs/client/jobId.ts';
import { proofMessage, requestCommitment, verifyHashed } from '../../programs/client/proof.ts';
import { type AnswerDetails, answerDetails, statementOf } from '../../programs/client/statement.ts';
import {
  callLedger,
  readClockSeconds,
  setClockSeconds,
  stopClock,
} from '../../testing/ledger/ledger.ts';
import { TEXT_ALONE } from '../../testing/textAlone.ts';
import { postSigned, type SignedRequest } from '../../testing/workers/signedRequest.ts';
import { createWorker } from '../../worker/app.ts';
import { createBuiltinEngine } from '../../worker/engine/builtin.ts';
import type { Engine } from '../../worker/engine/engine.ts';
import type { Terms } from '../../worker/ledger/terms.ts';
import type { WorkerMetrics } from '../../worker/metrics.ts';
import { paddedKeys, paddedText, startWritableLedger } from './writableLedger.ts';

export const MODEL_ID = 'test-8b';
export const TOKEN_LIMIT = 200;
export const SALT = randomBytes(32);
/** What is asked by default, and what a worker signs about it. */
export const CHAT = {
  model: MODEL_ID,
  messages: [{ role: 'user' as const, content: 'Say hello to the harbour.' }],
};
/** What a proof says beside the text, where it is not what every test asks and gets. */
interface Statement {
  commitment?: Uint8Array;
  details?: Partial<AnswerDetails>;
}

export const COMMITMENT = requestCommitment(SALT, { ...CHAT, token_limit: TOKEN_LIMIT });
/** The ledger's time since the worker began: longer than a job lives. */
const WORKER_AGE_SECONDS = 200n;

const MINIMUM_STAKE = new anchor.BN(1_000);
const SLASH_TOKENS = 500;
const LOCK_CREDITS = 8;

const addresses = createAddresses();
const creditAccount = addresses.creditAccount(Keypair.generate().publicKey);

export interface LockedJob {
  id: string;
  address: PublicKey;
}

/** Fields of a Job as in the IDL, its age by the ledger's time, and how old its id was at the lock. */
export type JobFields = Record<string, unknown> & {
  lockedSecondsAgo?: number;
  idAgeSeconds?: number;
};

/** Everything of a request that a caller may get wrong. */
export interface RequestChanges
  extends Partial<
    Pick<SignedRequest, 'url' | 'signer' | 'headers' | 'signed' | 'timestampMs' | 'signal'>
  > {
  body?: Record<string, unknown>;
  chat?: Record<string, unknown>;
}

/** A worker that listens, registered with one Gateway and one model on a ledger whose Clock stands. */
export async function openScene({
  engine = createBuiltinEngine({ tokenDelayMs: 0 }),
  capacity = 8,
  terms,
  metrics,
  logger = createLogger({ name: 'worker', level: 'silent' }),
  stopsTime = false,
  trialWaitMs,
}: {
  engine?: Engine;
  capacity?: number;
  /** By default it takes the Gateway's jobs, at any share. */
  terms?: Terms;
  metrics?: WorkerMetrics;
  logger?: Logger;
  /** Whether the worker's time passes only as `now.offsetMs` says, however long a test takes. */
  stopsTime?: boolean;
  /** How long its health checks wait for a trial; by default as long as a worker's. */
  trialWaitMs?: number;
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

  async function writeConfig(fields: Record<string, unknown> = {}): Promise<void> {
    await ledger.write(addresses.config, 'Config', {
      minimum_stake_tokens: MINIMUM_STAKE,
      slash_tokens: SLASH_TOKENS,
      job_credits_max: new anchor.BN(3_000),
      ...fields,
    });
  }

  await writeConfig();
  await writeWorker();
  await writeGateway([keys.hotSigner.publicKey]);
  await stopClock(ledger.connection);

  /** Of the worker's clock: how far it is ahead, and the time at which it stands still, if it does. */
  const now: { offsetMs: number; stoppedMs: number | undefined } = {
    offsetMs: 0,
    stoppedMs: stopsTime ? Date.now() : undefined,
  };
  const nowMs = (): number => (now.stoppedMs ?? Date.now()) + now.offsetMs;
  const closes: (() => Promise<void>)[] = [];
  /** What the worker waits for between two looks passes on the ledger in place of in earnest. */
  const waits = { ms: 0, begin: async () => {} };
  async function wait(ms: number): Promise<void> {
    waits.ms += ms;
    await waits.begin();
    await callLedger(ledger.connection.rpcEndpoint, 'localnet_advanceTime', [ms]);
  }

  /** A process of the worker that began before everything that is locked from now on. */
  async function start() {
    const running = createWorker({
      identity: {
        programId: PROGRAM_ID,
        authority: keys.authority.publicKey,
        proofKey: keys.proof,
        capacity,
        terms: terms ?? { gateways: [gateway], shareMinBasisPoints: 0 },
      },
      rpc: ledger.rpc,
      engine,
      logger,
      metrics,
      now: nowMs,
      wait,
      trialWaitMs,
    });
    const server = createServer(running.app).listen(0, '127.0.0.1');
    await once(server, 'listening');
    closes.push(async () => {
      server.close();
      await running.close(0);
      server.closeAllConnections();
    });
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    await untilLedgerRead(url);
    return url;
  }

  const url = await start();
  await setClockSeconds(
    ledger.connection,
    (await readClockSeconds(ledger.connection)) + WORKER_AGE_SECONDS,
  );

  /** Writes a Job that waits for this worker, locked just now. */
  async function lock(
    { idAgeSeconds = 0, ...fields }: JobFields = {},
    owner?: PublicKey,
  ): Promise<LockedJob> {
    const nowSeconds = Number(await readClockSeconds(ledger.connection));
    const idSeconds = nowSeconds - (fields.lockedSecondsAgo ?? 0) - idAgeSeconds;
    const { bytes, address } = createJobId({ nowMs: idSeconds * 1_000, creditAccount });
    await writeJob({ id: formatJobId(bytes), address }, fields, { owner, nowSeconds });
    return { id: formatJobId(bytes), address };
  }

  async function writeJob(
    job: LockedJob,
    { lockedSecondsAgo = 0, ...fields }: JobFields = {},
    { owner, nowSeconds }: { owner?: PublicKey | undefined; nowSeconds?: number } = {},
  ): Promise<void> {
    const atSeconds = nowSeconds ?? Number(await readClockSeconds(ledger.connection));
    const lockedAt = atSeconds - lockedSecondsAgo;
    const defaults = {
      job_id: [...Buffer.from(job.id.slice('job_'.length), 'hex')],
      credit_account: creditAccount,
      controller: gateway,
      model,
      token_limit: TOKEN_LIMIT,
      locked_at: new anchor.BN(lockedAt),
      job_timeout_seconds: JOB_TIMEOUT_SECONDS,
      dispute_window_seconds: DISPUTE_WINDOW_SECONDS,
      arbitration_window_seconds: ARBITRATION_WINDOW_SECONDS,
      credits_per_request: LOCK_CREDITS,
      credits_per_1k_tokens: 4,
      long_completion_threshold_tokens: 500,
      locked_credits: new anchor.BN(LOCK_CREDITS),
      slash_tokens: SLASH_TOKENS,
    };
    await ledger.write(job.address, 'Job', { ...defaults, ...fields }, owner);
  }

  function post(
    kind: 'job' | 'stop',
    job: LockedJob,
    content: Record<string, unknown>,
    {
      url: to = url,
      signer = keys.hotSigner,
      body: _body,
      chat: _chat,
      ...changes
    }: RequestChanges,
  ): Promise<Response> {
    const timestampMs = nowMs();
    const signed = { url: to, kind, worker, job: job.address, signer, content, timestampMs };
    return postSigned({ ...signed, ...changes });
  }

  return {
    ...{ url, keys, worker, gateway, ledger, lock, writeJob, writeWorker, writeGateway },
    ...{ writeConfig, now, waits },
    /** The worker's time, which is Unix time unless `now` says otherwise. */
    nowMs,
    close: async () => {
      for (const close of closes) await close();
      await ledger.close();
    },
    /** Another process of the same worker, which knows nothing of the first; returns its address. */
    startAgain: start,
    ask(job: LockedJob, changes: RequestChanges = {}): Promise<Response> {
      const content = {
        job_id: job.id,
        job_address: job.address.toBase58(),
        program_id: PROGRAM_ID.toBase58(),
        worker_address: worker.toBase58(),
        attempt: 1,
        token_limit: TOKEN_LIMIT,
        request_salt: SALT.toString('hex'),
        chat: { ...CHAT, ...changes.chat },
        ...changes.body,
      };
      return post('job', job, content, changes);
    },
    stop(job: LockedJob, changes: RequestChanges = {}): Promise<Response> {
      return post('stop', job, { attempt: 1, reason: 'client_gone', ...changes.body }, changes);
    },
    /** Whether the worker signed this about its first attempt at the job. */
    isSigned(
      job: LockedJob,
      proof: Record<string, unknown> | undefined,
      { commitment = COMMITMENT, details = {} }: Statement = {},
    ): boolean {
      const message = proofMessage({
        programId: PROGRAM_ID,
        job: job.address,
        worker,
        attempt: 1,
        outputHash: Buffer.from(String(proof?.output_hash).slice('sha256:'.length), 'hex'),
        promptTokens: Number(proof?.prompt_tokens),
        completionTokens: Number(proof?.completion_tokens),
        statement: statementOf({
          requestCommitment: commitment,
          answerDetails: answerDetails({ ...TEXT_ALONE, ...details }),
        }),
      });
      const signature = Buffer.from(String(proof?.signature), 'base64');
      return verifyHashed({ publicKey: keys.proof.publicKey, message, signature });
    },
  };
}

export type Scene = Awaited<ReturnType<typeof openScene>>;

/** Asks a worker that just began for its health, until it knows when that was by the ledger. */
async function untilLedgerRead(url: string): Promise<void> {
  for (;;) {
    const response = await fetch(`${url}/health`);
    if (response.ok || (await codeOf(response)) !== 'ledger_unavailable') return;
  }
}

/** The code of a refused request. */
export async function codeOf(response: Response): Promise<string> {
  const { error } = (await response.json()) as { error: { code: string } };
  return error.code;
}

/** `taken` of what was begun, else the status and code of its refusal, such as `409 job_not_open`. */
export async function outcomeOf(asking: Promise<Response> | Response): Promise<string> {
  const response = await asking;
  return response.ok ? 'taken' : `${response.status} ${await codeOf(response)}`;
}

/** A fresh address. */
export function freshAddress(): PublicKey {
  return new PublicKey(randomBytes(32));
}
