import { afterAll, afterEach, beforeAll, describe, expect, it, jest } from '@jest/globals';
import type { LockedJob } from '../../api/ledger/job.ts';
import { isContradicted } from '../../api/ledger/proof.ts';
import type { Time } from '../../common/wait.ts';
import { accepted } from '../../testing/ledger/interceptedConnection.ts';
import type { Recorded } from '../../testing/ledger/jobScene.ts';
import { advanceSeconds, BLOCKHASH_MS } from '../../testing/ledger/ledger.ts';
import { openSettlementScene, type SettlementScene } from './settlementScene.ts';

let scene: SettlementScene;
let before: bigint;

beforeAll(async () => {
  scene = await openSettlementScene();
  before = await scene.availableCredits();
});
afterAll(() => scene?.close());
afterEach(() => void jest.restoreAllMocks());

/** A job whose worker has recorded this proof itself. */
async function recorded(proof?: Recorded): Promise<LockedJob> {
  const [job] = (await scene.lockJobs(1)) as [LockedJob];
  await scene.acknowledge(job.address);
  await scene.prove(job.address, proof);
  return job;
}

describe('a worker that recorded another proof than it delivered', () => {
  it.each<[string, Recorded]>([
    ['fewer output tokens, which cost more', { tokens: 500 }],
    ['more output tokens', { tokens: 601 }],
    ['other prompt tokens', { promptTokens: 11 }],
    ['another request', { statement: new Uint8Array(32).fill(7) }],
    ['another text', { outputHash: new Uint8Array(32).fill(7) }],
  ])('is paid nothing for %s, and blamed', async (_what, other) => {
    const job = await recorded(other);
    const blamedBefore = scene.blamed.length;
    const warn = jest.spyOn(scene.context.logger, 'warn');
    expect(await scene.settleJob(job)).toMatchObject({
      ...{ status: 'failed', signature: expect.any(String) },
    });
    expect(await scene.read(job)).toMatchObject({
      ...{ status: 'failed', failureReason: 'output_mismatch', chargedCredits: 0n },
      worker: scene.service.worker,
    });
    expect(await scene.availableCredits()).toBe(before);
    expect(scene.blamed.slice(blamedBefore)).toEqual([scene.service.worker.toBase58()]);
    const { proof } = scene.answerTo(job);
    expect(warn).toHaveBeenCalledWith(
      expect.objectContaining({
        ...{ job_id: job.id, attempt: 1, worker: scene.service.worker.toBase58() },
        delivered_proof: {
          output_hash: Buffer.from(proof.outputHash).toString('hex'),
          ...{ prompt_tokens: 10, completion_tokens: 600 },
          statement: Buffer.from(proof.statement).toString('hex'),
          signature: Buffer.from(proof.signature).toString('hex'),
        },
      }),
    );
  });

  it('is paid nothing although the first try of the failure expires', async () => {
    const job = await recorded({ tokens: 500 });
    scene.intercept(async (request, forward) => {
      // The settlement is refused. What follows is the failure.
      scene.intercept(async (failure) => {
        scene.intercept();
        await advanceSeconds(scene.ledger.connection, (3 * BLOCKHASH_MS) / 1_000);
        return accepted(failure);
      });
      return forward(request);
    });
    expect(await scene.settleJob(job)).toMatchObject({
      ...{ status: 'failed', signature: expect.any(String) },
    });
    expect(await scene.availableCredits()).toBe(before);
  });
});

describe('a recorded proof', () => {
  /** Whether it is another than the delivered one, by what this ledger shows. */
  const isOther = async (job: LockedJob, context = scene.context) =>
    isContradicted(context, await scene.read(job), {
      ...{ job, answer: scene.answerTo(job), countedTokens: 600 },
    });

  it('of another worker or attempt is no contradiction', async () => {
    const job = await recorded({ tokens: 500 });
    const found = await scene.read(job);
    for (const choice of [{ attempt: 2 }, { worker: await scene.addWorker() }]) {
      const answer = scene.answerTo(job, choice);
      const delivered = { job, answer, countedTokens: 600 };
      expect(await isContradicted(scene.context, found, delivered)).toBe(false);
    }
  });

  it('is compared by its account alone while the ledger shows no event', async () => {
    const { connection } = scene.context;
    const getSignaturesForAddress = () => Promise.reject(new Error('the node is away'));
    const context = {
      ...{ ...scene.context, time: hurriedTime() },
      connection: Object.assign(Object.create(connection), { getSignaturesForAddress }),
    };
    const ofAnother = await recorded({ statement: new Uint8Array(32).fill(7) });
    expect(await isOther(ofAnother, context)).toBe(false);
    expect(await isOther(await recorded({ tokens: 500 }), context)).toBe(true);
  });
});

/** Each wait is over at once. */
function hurriedTime(): Time {
  let nowMs = 0;
  return {
    nowMs: () => nowMs,
    after(ms, then) {
      const waiting = setImmediate(() => {
        nowMs += ms;
        then();
      });
      return () => clearImmediate(waiting);
    },
  };
}
