import { describe, expect, it } from '@jest/globals';
import { Keypair } from '@solana/web3.js';
import type { Accounts } from '../../programs/client/accounts.ts';
import { createLedgerStart, type OwnReading } from '../../worker/ledger/ledger.ts';
import { WorkerError } from '../../worker/protocol/errors.ts';
import { readAnswer } from './events.ts';
import { openScene, outcomeOf } from './scene.ts';

describe('a restarted worker', () => {
  it('gives no second proof of an earlier job, even for a new signature', async () => {
    const wallet = Keypair.generate();
    const terms = { gateways: [wallet.publicKey], shareMinBasisPoints: 0 };
    const scene = await openScene({ terms });
    const job = await scene.lock({ controller: wallet.publicKey });
    const first = await readAnswer(await scene.ask(job, { signer: wallet }));
    expect(first.proof).toBeDefined();
    const url = await scene.startAgain();
    for (const attempt of [1, 2]) {
      expect(await outcomeOf(scene.ask(job, { url, signer: wallet, body: { attempt } }))).toBe(
        '409 job_not_open',
      );
    }
    await scene.close();
  });

  it('accepts every job that was locked after its first health report', async () => {
    const scene = await openScene();
    const url = await scene.startAgain();
    expect((await scene.ask(await scene.lock(), { url })).status).toBe(200);
    await scene.close();
  });
});

describe('the start time of a worker', () => {
  const worker = {} as Accounts['Worker'];
  const atOnce = async () => {};

  /** A ledger with the worker's account whose Clock says these one after the other. */
  function ledgerSaying(...readings: (bigint | WorkerError)[]) {
    const asked = { times: 0 };
    async function readOwn(): Promise<OwnReading> {
      const reading = readings[asked.times];
      asked.times += 1;
      if (typeof reading === 'bigint') return { worker, unixSeconds: reading };
      throw reading ?? new Error('asked too often');
    }
    return { asked, readOwn };
  }

  it('is known only once that second of the ledger is over, and is read once', async () => {
    const ledger = ledgerSaying(70n, 70n, 71n);
    const readStart = createLedgerStart(ledger, atOnce);
    expect(await Promise.all([readStart(), readStart()])).toEqual([70n, 70n]);
    expect(await readStart()).toBe(70n);
    expect(ledger.asked.times).toBe(3);
  });

  it('is read again after an outage of the ledger, and is the later time then', async () => {
    const away = new WorkerError('ledger_unavailable', 'The ledger did not answer');
    const readStart = createLedgerStart(ledgerSaying(away, 80n, 81n), atOnce);
    await expect(readStart()).rejects.toBe(away);
    expect(await readStart()).toBe(80n);
  });

  it("is unknown while the ledger's time stands still, and jobs are refused", async () => {
    const readOwn = async () => ({ worker, unixSeconds: 70n });
    await expect(createLedgerStart({ readOwn }, atOnce)()).rejects.toMatchObject({
      code: 'ledger_unavailable',
    });
  });

  it('sets no limit for an unregistered worker, which has proven nothing', async () => {
    const readOwn = async () => ({ worker: undefined, unixSeconds: 70n });
    expect(await createLedgerStart({ readOwn })()).toBeUndefined();
  });
});
