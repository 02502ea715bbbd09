import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { PublicKey, TransactionInstruction } from '@solana/web3.js';
import { jobRefund } from '../../programs/client/index.ts';
import { conclude } from '../../programs/client/verify/check.ts';
import {
  connectLedger,
  requestFrom,
} from '../../programs/client/verify/connection/connectLedger.ts';
import { gatherEvidence } from '../../programs/client/verify/job/gatherEvidence.ts';
import { verifyJob } from '../../programs/client/verify/job/verifyJob.ts';
import { addresses, createJobScene, type JobScene } from '../../testing/ledger/jobScene.ts';
import { callLedger } from '../../testing/ledger/ledger.ts';
import { signVersionOne } from '../../testing/ledger/versionOne.ts';

let scene: JobScene;
beforeAll(async () => {
  scene = await createJobScene();
});
afterAll(() => scene?.ledger.close());

/** One transaction of version 1, which the operator pays. */
async function send(instructions: TransactionInstruction[]): Promise<void> {
  const { connection, rpcUrl } = scene.ledger;
  const { blockhash } = await connection.getLatestBlockhash();
  const { authority } = scene.service.operator;
  const { wire } = signVersionOne({ instructions, signers: [authority], blockhash });
  await callLedger(rpcUrl, 'sendTransaction', [wire, { encoding: 'base64' }]);
}

async function lock(): Promise<PublicKey> {
  const [locked] = await scene.lock({ count: 1, tokenLimit: 2_000 });
  return locked?.address as PublicKey;
}

async function verify(job: PublicKey) {
  const connection = connectLedger(requestFrom(scene.ledger.rpcUrl));
  const { checks } = verifyJob(await gatherEvidence({ connection, addresses, job }));
  const open = checks.filter(({ verdict }) => verdict === 'fails' || verdict === 'not_checkable');
  return { result: conclude(checks), open: open.map(({ name, verdict }) => [name, verdict]) };
}

describe('a transaction of version 1 in the history of a job', () => {
  it('that refunds it is checked as any other', async () => {
    const job = await lock();
    await scene.wait(121);
    await send([jobRefund({ job, creditAccount: scene.service.creditAccount })]);
    expect(await verify(job)).toEqual({ result: 'holds', open: [] });
  });
});
