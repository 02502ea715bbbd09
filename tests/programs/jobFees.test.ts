import { describe, expect, it } from '@jest/globals';
import type { TransactionInstruction } from '@solana/web3.js';
import { gatewayUpdate } from '../../programs/client/index.ts';
import { associatedTokenAddress } from '../../programs/client/token/instructions.ts';
import { feeLamports, jobFees, largestBatch } from '../../programs/tools/jobFees.ts';
import { createJobScene } from '../../testing/ledger/jobScene.ts';
import {
  acknowledge,
  complete,
  composeLock,
  lockJob,
  prove,
  refund,
  settle,
} from './support/jobs.ts';
import { createWorld } from './support/world.ts';

const TOO_MANY_CALLS = /MaxInstructionTraceLengthExceeded/;

describe('the computed transaction fee', () => {
  it("equals the ledger's", async () => {
    const world = await createWorld();
    const { chain, hotSigner, operator } = world;
    const feePayer = chain.payer.publicKey;
    const form = { version: 'legacy', feePayer } as const;
    const taken = async (instructions: TransactionInstruction[], lamports: number) => {
      const before = (await chain.account(feePayer))?.lamports ?? 0;
      await chain.send(instructions, [hotSigner]);
      expect(feeLamports(instructions, form)).toBe(lamports);
      expect(before - ((await chain.account(feePayer))?.lamports ?? 0)).toBe(lamports);
    };
    const job = await lockJob(world);
    await taken([acknowledge(world, job)], 10_000);
    await taken([prove(world, job)], 5_000);
    await taken([settle(world, job)], 10_000);
    await taken([complete(world, await lockJob(world))], 10_000);
    const late = await lockJob(world);
    await chain.setTime((await chain.now()) + 121n);
    await taken([refund(world, late)], 5_000);

    const signers = [feePayer];
    const update = gatewayUpdate({ operator: operator.publicKey, signers, stopped: false });
    await chain.send([update], [operator]);
    const oneKey = { ...world, hotSigner: chain.payer };
    await taken([complete(oneKey, await lockJob(oneKey))], 5_000);
  });

  it('refuses instructions that do not fit into a packet', async () => {
    const world = await createWorld();
    const { instruction } = await composeLock(world);
    const form = { version: 'legacy', feePayer: world.chain.payer.publicKey } as const;
    const locks = (jobs: number) => Array.from({ length: jobs }, () => instruction);
    const most = largestBatch({ calls: 1, compose: () => instruction }, form);
    expect(feeLamports(locks(most), form)).toBe(10_000);
    expect(() => feeLamports(locks(most + 1), form)).toThrow(RangeError);
  });
});

describe('the fees of a job', () => {
  it('fall to a quarter in legacy batches, and to a fifteenth in version 1', () => {
    const { one_key, separate_fee_payer } = jobFees();
    expect(one_key.alone.total).toBe(15_000);
    expect(separate_fee_payer.alone.total).toBe(25_000);
    for (const { alone, legacy, legacy_one_pair } of [one_key, separate_fee_payer]) {
      expect(legacy.total * 3).toBeLessThan(alone.total);
      expect(legacy_one_pair.total).toBeLessThan(legacy.total);
    }
    expect(one_key.legacy.total * 4).toBeLessThan(one_key.alone.total);
    expect(one_key.version_1.total * 15).toBeLessThan(one_key.alone.total);
  });

  it('are those of batches that the ledger takes, and of none larger', async () => {
    const scene = await createJobScene({ version: 1 });
    try {
      const { service, send } = scene;
      const { version_1_one_pair: most } = jobFees().separate_fee_payer;
      const owner = service.workerAuthority.publicKey;
      const payout = associatedTokenAddress(service.mints.credit, owner);
      const lock = (count: number) => scene.lock({ count, tokenLimit: 100 });
      const locked = [
        ...(await lock(most.locks_per_transaction)),
        ...(await lock(most.locks_per_transaction)),
      ].map(({ address }) => address);
      await expect(lock(most.locks_per_transaction + 1)).rejects.toThrow(TOO_MANY_CALLS);

      const completions = locked.map((job) => complete({ ...service, payout }, job));
      const count = most.completions_per_transaction;
      await send(completions.slice(0, count));
      await expect(send(completions.slice(count, 2 * count + 1))).rejects.toThrow(TOO_MANY_CALLS);
      for (let at = count; at < completions.length; at += count) {
        await send(completions.slice(at, at + count));
      }

      await scene.wait(200);
      const closings = most.closings_per_transaction;
      const tooMany = scene.close(locked.slice(0, closings + 1));
      await expect(tooMany).rejects.toThrow(TOO_MANY_CALLS);
      await scene.close(locked.slice(0, closings));
    } finally {
      await scene.ledger.close();
    }
  });
});
