import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { PublicKey } from '@solana/web3.js';
import { conclude } from '../../programs/client/verify/check.ts';
import { connectLedger } from '../../programs/client/verify/connection/connectLedger.ts';
import { gatherEvidence } from '../../programs/client/verify/job/gatherEvidence.ts';
import { verifyJob } from '../../programs/client/verify/job/verifyJob.ts';
import { auditProgram } from '../../programs/client/verify/program/auditProgram.ts';
import { gatherProgram } from '../../programs/client/verify/program/gatherProgram.ts';
import { runCli } from '../../testing/cli.ts';
import { addresses, createJobScene, type JobScene } from '../../testing/ledger/jobScene.ts';

const ARTIFACT = readFileSync(
  new URL('../../programs/escrow/artifacts/escrow-v3.so', import.meta.url),
);
const TIMEOUT_SECONDS = 121;
const DAY_SECONDS = 86_401;

/** All of its transactions are of version 1. */
let scene: JobScene;
beforeAll(async () => {
  scene = await createJobScene({ version: 1 });
});
afterAll(() => scene?.ledger.close());

const connect = () => connectLedger(scene.ledger.rpc);

async function lock(): Promise<PublicKey> {
  const [locked] = await scene.lock({ count: 1, tokenLimit: 2_000 });
  return locked?.address as PublicKey;
}

async function settle(): Promise<PublicKey> {
  const job = await lock();
  await scene.acknowledge(job);
  await scene.settle(job);
  return job;
}

async function verify(job: PublicKey, connection = connect()) {
  const { checks } = verifyJob(await gatherEvidence({ connection, addresses, job }));
  const open = checks.filter(({ verdict }) => verdict === 'fails' || verdict === 'not_checkable');
  return { result: conclude(checks), open: open.map(({ name, verdict }) => [name, verdict]) };
}

describe('a job whose transactions are of version 1', () => {
  it('holds for svc verify, which reads by no web3.js', async () => {
    const job = await settle();
    const rpc = ['--rpc', scene.ledger.rpcUrl];
    expect(await runCli(['verify', job.toBase58(), ...rpc])).toMatchObject({ code: 0 });
  });

  it('holds over web3.js too', async () => {
    const { connection } = scene.ledger;
    expect(await verify(await settle(), connection)).toEqual({ result: 'holds', open: [] });
  });

  it('is not checked over a library that mistakes the message’s version', async () => {
    const connection = connect();
    const read = connection.getTransaction.bind(connection);
    const getTransaction = async (...asked: Parameters<typeof read>) => {
      const response = await read(...asked);
      if (response) Object.assign(response.transaction.message, { version: 'legacy' });
      return response;
    };
    const { result, open } = await verify(
      await settle(),
      Object.assign(connection, { getTransaction }),
    );
    expect(result).toBe('not_checkable');
    expect(open.filter(([, verdict]) => verdict === 'fails')).toEqual([]);
  });

  it.each<[string, () => Promise<PublicKey>]>([
    ['settled', settle],
    [
      'failed',
      async () => {
        const job = await lock();
        await scene.fail(job);
        return job;
      },
    ],
    [
      'refunded',
      async () => {
        const job = await lock();
        await scene.wait(TIMEOUT_SECONDS);
        await scene.refund(job);
        return job;
      },
    ],
    [
      'left to expire in dispute',
      async () => {
        const job = await settle();
        await scene.dispute(job);
        await scene.wait(DAY_SECONDS);
        await scene.expire(job);
        return job;
      },
    ],
    // Its worker gets no more jobs.
    [
      'disputed, and its worker slashed',
      async () => {
        const job = await settle();
        await scene.dispute(job);
        await scene.resolve(job, 'upheld_worker');
        return job;
      },
    ],
  ])('holds, %s', async (_end, live) => {
    expect(await verify(await live())).toEqual({ result: 'holds', open: [] });
  });

  it('leaves a program that can be audited', async () => {
    const wait = (ms: number) => scene.wait(ms / 1_000);
    const evidence = await gatherProgram({ connection: connect(), addresses, wait });
    const checks = auditProgram(evidence, { code: ARTIFACT });
    expect(checks.filter(({ verdict }) => verdict === 'fails')).toEqual([]);
  });
});
