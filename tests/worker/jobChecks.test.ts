import { once } from 'node:events';
import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import { PassThrough } from 'node:stream';
import { describe, expect, it, jest } from '@jest/globals';
import { Keypair, type PublicKey } from '@solana/web3.js';
import { createLogger } from '../../common/logger.ts';
import { PROGRAM_ID } from '../../programs/client/addresses.ts';
import type { Engine } from '../../worker/engine/engine.ts';
import type { Admitted } from '../../worker/jobs/admission.ts';
import { createAttempts } from '../../worker/jobs/attempts.ts';
import { createJobs } from '../../worker/jobs/jobs.ts';
import { createProofSigner } from '../../worker/jobs/proofSigner.ts';
import { WorkerError } from '../../worker/protocol/errors.ts';
import { CHAT, COMMITMENT, freshAddress } from './scene.ts';

const CAPACITY = 32;
const ADMITTED: Admitted = {
  ...{ controller: freshAddress(), proofDueMs: 60_000 },
  ...{ unixSeconds: 0n, deadlineSeconds: 65n },
};
const NOT_FOUND = new WorkerError('job_not_found', 'The ledger holds no such job');

/** A worker whose ledger answers when the test says so, and whose engine goes on until stopped. */
function openBench() {
  const worker = freshAddress();
  const starts = { count: 0 };
  const engine: Engine = {
    kind: 'builtin',
    async *generate(_chat, { signal }) {
      starts.count += 1;
      yield { type: 'text', text: 'Hello.' };
      if (!signal.aborted) await once(signal, 'abort');
      signal.throwIfAborted();
    },
  };
  let check = Promise.withResolvers<Admitted>();
  const jobs = createJobs({
    admission: { admit: () => check.promise, authorize: async () => undefined },
    attempts: createAttempts(),
    engine,
    signProof: createProofSigner({ programId: PROGRAM_ID, worker, proofKey: Keypair.generate() }),
    capacity: CAPACITY,
    logger: createLogger({ name: 'worker', level: 'silent' }),
  });

  /** Asks for a job; `ledger` is the answer to its check, `code` what becomes of it. */
  function ask(signer: PublicKey, job = freshAddress()) {
    check = Promise.withResolvers<Admitted>();
    const ledger = check;
    const request = {
      ...{ job_id: 'job_1', job_address: job, worker_address: worker, program_id: PROGRAM_ID },
      ...{ attempt: 1, token_limit: 100, chat: CHAT, requestCommitment: COMMITMENT },
    };
    const response = new ServerResponse(new IncomingMessage(new Socket()));
    response.assignSocket(new PassThrough() as unknown as Socket);
    const code = jobs.run(request, signer, response).then(
      () => 'proven',
      (error: WorkerError) => error.code as string,
    );
    return { job, ledger, code };
  }

  /** Stops a job that the ledger's check let through, and waits for its proof. */
  async function prove({ job, ledger, code }: ReturnType<typeof ask>, signer: PublicKey) {
    ledger.resolve(ADMITTED);
    // Only what was sent can be proven.
    await new Promise(setImmediate);
    await jobs.stop({ address: job, attempt: 1, reason: 'client_gone' }, signer);
    expect(await code).toBe('proven');
  }

  /** A signer whose job passed before. */
  async function remembered(): Promise<PublicKey> {
    const signer = freshAddress();
    await prove(ask(signer), signer);
    starts.count = 0;
    return signer;
  }

  return { jobs, starts, ask, prove, remembered };
}

describe("the ledger's check of a job", () => {
  it('takes no capacity and starts one engine, for any number of jobs', async () => {
    const { jobs, starts, ask, prove, remembered } = openBench();
    const signer = await remembered();
    const asked = Array.from({ length: CAPACITY * 2 }, () => ask(signer));
    // One, by the turn that the job before has given.
    expect([starts.count, jobs.inFlight]).toEqual([1, 0]);
    const honest = freshAddress();
    await prove(ask(honest), honest);
    for (const { ledger } of asked) ledger.reject(NOT_FOUND);
    const codes = await Promise.all(asked.map(({ code }) => code));
    expect(new Set(codes)).toEqual(new Set(['job_not_found']));
    expect(starts.count).toBe(2);
  });

  it('joins the signals of an answer that began before it once', async () => {
    const { ask, prove, remembered } = openBench();
    const signer = await remembered();
    const joining = jest.spyOn(AbortSignal, 'any');
    await prove(ask(signer), signer);
    expect(joining).toHaveBeenCalledTimes(1);
    joining.mockRestore();
  });

  it("lets the attempt's own caller in beside another signer's request", async () => {
    const { jobs, ask, prove, remembered } = openBench();
    const [thief, owner] = [await remembered(), await remembered()];
    const stolen = ask(thief);
    const own = ask(owner, stolen.job);
    stolen.ledger.reject(NOT_FOUND);
    expect(await stolen.code).toBe('job_not_found');
    await prove(own, owner);
    expect(jobs.inFlight).toBe(0);
  });

  it('admits one of two requests for an attempt, and its run can be stopped', async () => {
    const { jobs, ask, prove, remembered } = openBench();
    const [stranger, known] = [freshAddress(), await remembered()];
    const first = ask(stranger);
    const second = ask(known, first.job);
    first.ledger.resolve(ADMITTED);
    await new Promise(setImmediate);
    second.ledger.resolve(ADMITTED);
    expect(await second.code).toBe('attempt_already_used');
    expect(jobs.inFlight).toBe(1);
    await prove(first, stranger);
    expect(jobs.inFlight).toBe(0);
  });
});
