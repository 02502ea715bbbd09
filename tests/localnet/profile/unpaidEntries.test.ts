import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Keypair, type PublicKey, SystemProgram, Transaction } from '@solana/web3.js';
import { sweep } from '../../../indexer/mirror/sweep.ts';
import { isClean, reconcile } from '../../../indexer/reconcile/reconcile.ts';
import { selectCursor } from '../../../indexer/sql/progress.ts';
import { jobRefund, PROGRAM_ID } from '../../../programs/client/index.ts';
import { createSender } from '../../../programs/client/sender/index.ts';
import { runCli } from '../../../testing/cli.ts';
import {
  createMirrorDatabase,
  type MirrorDatabase,
} from '../../../testing/indexer/mirrorDatabase.ts';
import { addresses, createScene, type Scene } from '../../../testing/indexer/scene.ts';
import { callLedger, writeAccount } from '../../../testing/ledger/ledger.ts';
import { until } from '../../../testing/until.ts';
import { interceptedRpc } from '../../client/interceptedRpc.ts';
import { contextOf } from '../../indexer/mirrorContext.ts';

// A block of mainnet may hold entries without a fee (SIMD-0290): they failed and changed nothing.

let scene: Scene;
let mirror: MirrorDatabase;
let job: PublicKey;
/** Stands in the job's history, before its settlement. */
let unpaid: string;
beforeAll(async () => {
  [scene, mirror] = await Promise.all([
    createScene({ profile: 'mainnet' }),
    createMirrorDatabase(),
  ]);
  [job] = (await scene.lock()) as [PublicKey];
  unpaid = await refundUnpaid(job);
  await scene.acknowledge(job);
  await scene.settle(job);
});
afterAll(async () => {
  await mirror?.close();
  await scene?.ledger.close();
});

/** In a block, though its payer has nothing. @returns its signature */
async function refundUnpaid(of: PublicKey): Promise<string> {
  const { connection, rpcUrl } = scene.ledger;
  const pauper = Keypair.generate();
  const { blockhash: recentBlockhash } = await connection.getLatestBlockhash();
  const transaction = new Transaction({ feePayer: pauper.publicKey, recentBlockhash });
  const { creditAccount } = scene.service;
  transaction.add(jobRefund({ job: of, creditAccount })).sign(pauper);
  const wire = transaction.serialize().toString('base64');
  const config = { encoding: 'base64', skipPreflight: true };
  const signature = await callLedger<string>(rpcUrl, 'sendTransaction', [wire, config]);
  await until(async () => {
    const { value } = await connection.getSignatureStatus(signature);
    return value?.confirmationStatus === 'finalized';
  });
  return signature;
}

async function listed() {
  const found = await scene.ledger.connection.getSignaturesForAddress(job);
  return found.map(({ signature, err }) => [signature, err]);
}

describe("an unpaid entry in a job's history", () => {
  it('is listed there, with its error', async () => {
    expect(await listed()).toContainEqual([unpaid, 'AccountNotFound']);
  });

  it('is no gap of the mirror, and nothing in it', async () => {
    const client = await mirror.pool.connect();
    await sweep(contextOf(client, scene.source));
    const { rows } = await client.query(
      `select status, (select count(*)::int from transactions where signature = $2) as unpaid
       from jobs where address = $1`,
      [job.toBase58(), unpaid],
    );
    expect(rows).toEqual([{ status: 'settled', unpaid: 0 }]);
    const newest = await refundUnpaid(job);
    const [row] = await scene.ledger.connection.getSignaturesForAddress(job, { limit: 1 });
    expect(row?.signature).toBe(newest);
    await sweep(contextOf(client, scene.source));
    expect(await selectCursor(client, 'confirmed')).toBe(BigInt(row?.slot ?? 0));
    client.release();
  });

  it('is no difference for a reconciliation', async () => {
    const { connection } = scene.ledger;
    const result = await reconcile({
      ...{ database: mirror.pool, connection, addresses, patienceMs: 0 },
    });
    expect(result.differences).toEqual([]);
    expect(isClean(result)).toBe(true);
  });

  it('leaves the job and the program as they are for svc verify and svc audit', async () => {
    const rpc = ['--rpc', scene.ledger.rpcUrl];
    expect(await runCli(['verify', job.toBase58(), ...rpc])).toMatchObject({ code: 0 });
    expect(await runCli(['audit', ...rpc])).toMatchObject({ code: 0 });
  });
});

describe('the sender, whose payer has been drained since the preflight', () => {
  const LAMPORTS = 1_000_000;
  const to = Keypair.generate().publicKey;
  const errors: object[] = [];

  /** A node that knew of the lamports, and passed the transaction on. */
  function send(feePayers: readonly Keypair[]) {
    const { operator } = scene.service;
    const rpc = interceptedRpc(scene.ledger.rpcUrl, (request, forward) => {
      if (request.method !== 'sendTransaction') return forward(request);
      const [wire, config] = request.params;
      return forward({
        ...request,
        params: [wire, { ...(config as object), skipPreflight: true }],
      });
    });
    const sender = createSender({
      ...{ rpc, feePayers, commitment: 'finalized' },
      logger: { warn: () => undefined, error: (entry) => errors.push(entry) },
    });
    const { publicKey: fromPubkey } = operator.authority;
    const transfer = SystemProgram.transfer({ fromPubkey, toPubkey: to, lamports: LAMPORTS });
    const signers = [operator.authority];
    return sender
      .send({ instructions: [transfer], signers, computeUnitLimit: 1_000 })
      .finally(() => sender.close());
  }
  const received = () => scene.ledger.connection.getBalance(to);

  it.each([
    ['AccountNotFound', undefined],
    ['InsufficientFundsForFee', { lamports: 4_999 }],
    ['InvalidAccountForFee', { lamports: LAMPORTS, owner: PROGRAM_ID }],
  ])('has another payer pay after %s, and sends what it sends once', async (cause, account) => {
    errors.length = 0;
    const before = await received();
    const { authority } = scene.service.operator;
    const drained = Keypair.generate();
    const fee_payer = drained.publicKey.toBase58();
    if (account) await writeAccount(scene.ledger.rpcUrl, drained.publicKey, account);
    expect(await send([drained, authority])).toMatchObject({ slot: expect.any(Number) });
    expect((await received()) - before).toBe(LAMPORTS);
    expect(errors).toMatchObject([{ msg: 'A fee payer could not pay', fee_payer, cause }]);
  });
});
