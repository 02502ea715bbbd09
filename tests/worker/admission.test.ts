import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { Keypair, type PublicKey, SystemProgram } from '@solana/web3.js';
import { ACCOUNT_VERSION } from '../../programs/client/accounts.ts';
import { PROGRAM_ID } from '../../programs/client/addresses.ts';
import type { Rpc } from '../../programs/client/rpc/rpc.ts';
import type { Engine } from '../../worker/engine/engine.ts';
import { createAdmission } from '../../worker/jobs/admission.ts';
import { createJobLookup } from '../../worker/ledger/jobLookup.ts';
import { createWorkerLedger } from '../../worker/ledger/ledger.ts';
import { interceptedRpc } from '../client/interceptedRpc.ts';
import {
  CHAT,
  COMMITMENT,
  codeOf,
  freshAddress,
  type JobFields,
  openScene,
  outcomeOf,
  type Scene,
  TOKEN_LIMIT,
} from './scene.ts';

const READ_TIMEOUT_MS = 2_000;
/** Questions of one turn wait so long for each other. */
const LINGER_MS = 5;

let scene: Scene;
beforeAll(async () => {
  scene = await openScene();
});
afterAll(() => scene.close());

/** The worker's ledger, behind this node. */
const ledgerBy = (rpc: Rpc) =>
  createWorkerLedger({ rpc, programId: PROGRAM_ID, worker: scene.worker, commitment: 'confirmed' });

describe('a job is refused when the ledger', () => {
  it.each<[string, JobFields, string]>([
    [
      'has the proof of this attempt',
      { status: 'settling', attempt: 1, worker: freshAddress() },
      '409 job_not_open',
    ],
    ['has it settled', { status: 'settled' }, '409 job_not_open'],
    ['has it failed', { status: 'failed' }, '409 job_not_open'],
    ['has it refunded', { status: 'refunded' }, '409 job_not_open'],
    ['leaves it 14 seconds', { lockedSecondsAgo: 106 }, '409 job_not_open'],
    ['has a later attempt', { status: 'processing', attempt: 2 }, '409 job_not_open'],
    [
      'gave the attempt to another worker',
      { status: 'processing', attempt: 1, worker: freshAddress() },
      '409 job_not_open',
    ],
    ['locked another token limit', { token_limit: 199 }, '400 job_mismatch'],
    ['locked another model', { model: freshAddress() }, '400 job_mismatch'],
    ['has another id', { job_id: [...new Uint8Array(16)] }, '400 job_mismatch'],
  ])('%s', async (_case, fields, outcome) => {
    expect(await outcomeOf(scene.ask(await scene.lock(fields)))).toBe(outcome);
  });

  it('still lacks it after three seconds', async () => {
    const job = await scene.lock({}, SystemProgram.programId);
    const before = scene.waits.ms;
    expect(await outcomeOf(scene.ask(job))).toBe('404 job_not_found');
    expect(scene.waits.ms - before).toBe(3_000);
  });

  it.each<[string, (address: PublicKey) => Promise<void>]>([
    ['zeros', (address) => scene.ledger.writeBytes(address, new Uint8Array(500))],
    ['no bytes', (address) => scene.ledger.writeBytes(address, new Uint8Array())],
    [
      'a CreditAccount of another version',
      (address) => scene.ledger.write(address, 'CreditAccount', { version: 2 }),
    ],
  ])('has %s of the program at its address', async (_case, write) => {
    const address = freshAddress();
    await write(address);
    expect(await outcomeOf(scene.ask({ id: 'job_1', address }))).toBe('404 job_not_found');
  });

  it('has another large account at its address, of which little is read', async () => {
    const address = freshAddress();
    const bytes = new Uint8Array(1024 * 1024);
    await scene.ledger.writeBytes(address, bytes, SystemProgram.programId);
    let read = 0;
    const rpc = interceptedRpc(scene.ledger.connection.rpcEndpoint, async (request, forward) => {
      const answer = await forward(request);
      read += JSON.stringify(answer).length;
      return answer;
    });
    const ledger = ledgerBy(rpc);
    expect(await ledger.readJob(address)).toMatchObject({ job: undefined, worker: {}, config: {} });
    expect(await ledger.readGateway(address)).toBeUndefined();
    expect(read).toBeLessThan(10_000);
  });

  it('has it in a version that the worker cannot read', async () => {
    const response = await scene.ask(await scene.lock({ version: ACCOUNT_VERSION + 1 }));
    expect([response.status, await codeOf(response)]).toEqual([500, 'internal_error']);
  });

  it('belongs to another deployment, or the job to another worker', async () => {
    for (const body of [
      { program_id: freshAddress().toBase58() },
      { worker_address: freshAddress().toBase58() },
    ]) {
      expect(await outcomeOf(scene.ask(await scene.lock(), { body }))).toBe('400 job_mismatch');
    }
  });
});

describe('a job runs when the ledger', () => {
  it('has it pending with enough time, or acknowledged for this attempt', async () => {
    const acknowledged = { status: 'processing', attempt: 1, worker: scene.worker };
    expect((await scene.ask(await scene.lock(acknowledged))).status).toBe(200);
    expect((await scene.ask(await scene.lock({ lockedSecondsAgo: 100 }))).status).toBe(200);
  });

  it('has the proof of an earlier attempt, which a later attempt replaces', async () => {
    const proven = { status: 'settling', attempt: 1, worker: freshAddress() };
    const response = await scene.ask(await scene.lock(proven), { body: { attempt: 2 } });
    expect(response.status).toBe(200);
  });

  it('and gives it time for a proof until five seconds before its refund', async () => {
    const { worker, gateway, keys } = scene;
    const ledger = ledgerBy(scene.ledger.rpc);
    const terms = { gateways: [gateway], shareMinBasisPoints: 0 };
    const own = { programId: PROGRAM_ID, worker, proofKey: keys.proof.publicKey, terms };
    const lookup = createJobLookup(ledger, 1);
    let nowMs = 0;
    const slowNode: typeof ledger = {
      ...ledger,
      readGateway(address) {
        nowMs += 3_000;
        return ledger.readGateway(address);
      },
    };
    const { admit } = createAdmission(
      slowNode,
      lookup,
      own,
      async () => undefined,
      () => nowMs,
    );
    const { id, address } = await scene.lock({ lockedSecondsAgo: 80 });
    const request = {
      ...{ job_id: id, job_address: address, worker_address: worker, program_id: PROGRAM_ID },
      ...{ attempt: 1, token_limit: TOKEN_LIMIT, chat: CHAT, requestCommitment: COMMITMENT },
    };
    const admitted = await admit(request, keys.hotSigner.publicKey, false);
    const { deadlineSeconds, unixSeconds, proofDueMs } = admitted;
    expect(proofDueMs).toBe((Number(deadlineSeconds - unixSeconds) - 5) * 1_000 - nowMs);
  });

  it('shows it to the worker a little later than to the caller', async () => {
    const job = await scene.lock({}, SystemProgram.programId);
    scene.waits.begin = () => scene.writeJob(job);
    expect((await scene.ask(job)).status).toBe(200);
    scene.waits.begin = async () => {};
  });
});

describe('the signer of a job', () => {
  it('may be the controller itself, where the worker serves it', async () => {
    const wallet = Keypair.generate();
    const terms = { gateways: [wallet.publicKey], shareMinBasisPoints: 0 };
    const serving = await openScene({ terms });
    const job = await serving.lock({ controller: wallet.publicKey });
    expect((await serving.ask(job, { signer: wallet })).status).toBe(200);
    await serving.close();
  });

  it('is refused for a served controller that it does not act for', async () => {
    const response = await scene.ask(await scene.lock(), { signer: Keypair.generate() });
    expect([response.status, await codeOf(response)]).toEqual([403, 'signer_not_allowed']);
  });

  it('may be any current signer of the Gateway, but no removed one', async () => {
    const second = Keypair.generate();
    await scene.writeGateway([scene.keys.hotSigner.publicKey, second.publicKey]);
    expect((await scene.ask(await scene.lock(), { signer: second })).status).toBe(200);
    await scene.writeGateway([scene.keys.hotSigner.publicKey]);
    const response = await scene.ask(await scene.lock(), { signer: second });
    expect([response.status, await codeOf(response)]).toEqual([403, 'signer_not_allowed']);
  });
});

describe('the engine of a worker', () => {
  it('starts before the check only for a signer whose last job passed', async () => {
    let starts = 0;
    const engine: Engine = {
      kind: 'upstream',
      async *generate() {
        starts += 1;
        yield { type: 'text', text: 'Hello.' };
        yield { type: 'end', finishReason: 'stop' };
      },
    };
    const watched = await openScene({ engine });
    await watched.ask(await watched.lock(), { signer: Keypair.generate() });
    expect(starts).toBe(0);
    await (await watched.ask(await watched.lock())).text();
    expect(starts).toBe(1);
    for (let missing = 0; missing < 2; missing += 1) {
      const job = await watched.lock({}, SystemProgram.programId);
      expect(await outcomeOf(watched.ask(job))).toBe('404 job_not_found');
      expect(starts).toBe(2);
    }
    await watched.close();
  });
});

describe('a ledger that leaves a question unanswered', () => {
  it('is asked once more, and the job runs', async () => {
    const { address } = await scene.lock();
    let asked = 0;
    const rpc = interceptedRpc(scene.ledger.connection.rpcEndpoint, (request, forward) => {
      asked += 1;
      return asked === 1 ? new Promise(() => {}) : forward(request);
    });
    const ledger = ledgerBy(rpc);
    jest.useFakeTimers({ doNotFake: ['nextTick', 'setImmediate', 'queueMicrotask', 'Date'] });
    const reading = ledger.readJob(address);
    await jest.advanceTimersByTimeAsync(READ_TIMEOUT_MS - 1);
    expect(asked).toBe(1);
    await jest.advanceTimersByTimeAsync(LINGER_MS + 1);
    jest.useRealTimers();
    expect(await reading).toMatchObject({ job: {}, worker: {} });
    expect(asked).toBe(2);
  });
});
