import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Keypair, type PublicKey, SystemProgram } from '@solana/web3.js';
import { conclude } from '../../programs/client/verify/check.ts';
import { gatherEvidence } from '../../programs/client/verify/job/gatherEvidence.ts';
import { verifyJob } from '../../programs/client/verify/job/verifyJob.ts';
import { interceptedConnection } from '../../testing/ledger/interceptedConnection.ts';
import { addresses, createJobScene, type JobScene } from '../../testing/ledger/jobScene.ts';

/** Enough that they are read several at once. */
const MENTIONS = 20;

let scene: JobScene;
let job: PublicKey;

/** Strangers mention the worker's authority and the credit account before, in and after the job. */
beforeAll(async () => {
  scene = await createJobScene();
  await mention();
  const [locked] = await scene.lock({ count: 1, tokenLimit: 2_000 });
  job = locked?.address as PublicKey;
  await scene.acknowledge(job);
  await mention();
  await scene.settle(job);
  await mention();
});

afterAll(() => scene?.ledger.close());

async function mention(): Promise<void> {
  for (let count = 0; count < MENTIONS; count += 1) {
    await scene.send([gift(Keypair.generate().publicKey)], []);
  }
}

/** A transfer to an unrelated account that names both accounts. */
function gift(toPubkey: PublicKey) {
  const { operator, workerAuthority, creditAccount } = scene.service;
  const fromPubkey = operator.authority.publicKey;
  const transfer = SystemProgram.transfer({ fromPubkey, toPubkey, lamports: 1_000_000 });
  for (const pubkey of [workerAuthority.publicKey, creditAccount]) {
    transfer.keys.push({ pubkey, isSigner: false, isWritable: false });
  }
  return transfer;
}

async function verify(historyMax: number) {
  const asked: string[] = [];
  const connection = interceptedConnection(scene.ledger.rpcUrl, (request, forward) => {
    if (request.method === 'getTransaction') asked.push(String(request.params[0]));
    return forward(request);
  });
  const evidence = await gatherEvidence({ connection, addresses, job, historyMax });
  const { checks } = verifyJob(evidence);
  const unchecked = checks.filter(({ verdict }) => verdict === 'not_checkable');
  return { asked, result: conclude(checks), unchecked: unchecked.map(({ name }) => name) };
}

describe("an account that strangers' transactions mention again and again", () => {
  it('can be verified, with any mentions', async () => {
    expect(await verify(1)).toMatchObject({ result: 'holds', unchecked: [] });
  });

  it('is verified without reading what came after the job', async () => {
    const { asked } = await verify(1);
    const listed = await scene.ledger.connection.getSignaturesForAddress(
      scene.service.creditAccount,
    );
    const later = listed.slice(0, MENTIONS).map(({ signature }) => signature);
    expect(later.filter((signature) => asked.includes(signature))).toEqual([]);
  });
});

describe('a worker that signs many transactions', () => {
  it('can be verified with a longer history', async () => {
    const [locked] = await scene.lock({ count: 1, tokenLimit: 2_000 });
    job = locked?.address as PublicKey;
    await scene.acknowledge(job);
    const { workerAuthority, operator } = scene.service;
    for (let count = 0; count < 3; count += 1) {
      const signed = gift(operator.authority.publicKey);
      for (const key of signed.keys) key.isSigner ||= key.pubkey.equals(workerAuthority.publicKey);
      await scene.send([signed], [workerAuthority]);
    }
    await scene.settle(job);
    expect(await verify(3)).toMatchObject({
      result: 'not_checkable',
      unchecked: ['proof.key', 'settlement.worker_payment'],
    });
    expect(await verify(4)).toMatchObject({ result: 'holds', unchecked: [] });
  });
});
