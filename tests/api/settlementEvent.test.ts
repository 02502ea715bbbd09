import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { LedgerContext } from '../../api/ledger/context.ts';
import { createEscrow } from '../../api/ledger/escrow.ts';
import { readSettlement } from '../../api/ledger/jobLookup.ts';
import { connectPooledRpc } from '../../common/net/pooledRpc.ts';
import { delay, systemTime } from '../../common/wait.ts';
import { formatJobId } from '../../programs/client/jobId.ts';
import { mention } from '../../testing/ledger/history.ts';
import { addresses, createJobScene, type JobScene } from '../../testing/ledger/jobScene.ts';

let scene: JobScene;
beforeAll(async () => {
  scene = await createJobScene({ version: 1 });
});
afterAll(() => scene?.ledger.close());

describe('the event', () => {
  it.each([
    ['of a settlement', 'settle', 9_997n],
    ['of all three steps', 'complete', 9_994n],
  ] as const)('%s is found behind a transaction of a later version', async (_what, end, left) => {
    const [locked] = await scene.lock({ count: 1, tokenLimit: 2_000 });
    if (!locked) throw new Error('one was locked');
    if (end === 'settle') await scene.acknowledge(locked.address);
    await scene[end](locked.address);
    await mention(scene, locked.address);
    const { rpcUrl, connection } = scene.ledger;
    const rpc = connectPooledRpc({ url: rpcUrl });
    const context = { connection, rpc, addresses, commitment: 'confirmed', time: systemTime };
    const job = {
      wallet: scene.service.wallet.publicKey.toBase58(),
      jobId: formatJobId(locked.idBytes),
    };
    const [, settlement] = await connection.getSignaturesForAddress(locked.address);
    expect(await readSettlement(context as unknown as LedgerContext, job, null)).toEqual({
      settlement_tx: settlement?.signature,
      available_credits: left,
    });
  });

  it('of at most 4 settlements is read at once, and of none mirrored by then', async () => {
    let [reads, running, most] = [0, 0, 0];
    const getSignaturesForAddress = async () => {
      reads += 1;
      running += 1;
      most = Math.max(most, running);
      await delay(1);
      running -= 1;
      return [];
    };
    const context = { addresses, time: systemTime, connection: { getSignaturesForAddress } };
    const escrow = createEscrow(context as unknown as LedgerContext);
    const wallet = scene.service.wallet.publicKey.toBase58();
    const [locked] = await scene.lock({ count: 1, tokenLimit: 2_000 });
    const key = { wallet, jobId: formatJobId(locked?.idBytes ?? new Uint8Array()) };
    const read = (isKnown: boolean) => escrow.readSettlement(key, null, () => isKnown);
    const all = Array.from({ length: 30 }, (_, place) => read(place % 3 === 0));
    expect(new Set(await Promise.all(all))).toEqual(new Set([undefined]));
    expect([reads, most]).toEqual([20, 4]);
  });
});
