import { describe, expect, it } from '@jest/globals';
import type { TransactionInstruction } from '@solana/web3.js';
import { feeLamports, jobFees, largestBatch } from '../../programs/tools/jobFees.ts';
import { acknowledge, composeLock, lockJob, prove, refund, settle } from './support/jobs.ts';
import { createWorld } from './support/world.ts';

describe('the computed transaction fee', () => {
  it("equals the ledger's, also for signatures in ed25519 instructions", async () => {
    const world = await createWorld();
    const { chain, hotSigner } = world;
    const payer = chain.payer.publicKey;
    const job = await lockJob(world);
    const [verification, proof] = prove(world, job);
    const taken = async (instructions: TransactionInstruction[], lamports: number) => {
      const before = (await chain.account(payer))?.lamports ?? 0;
      const signs = instructions.some(({ keys }) =>
        keys.some(({ isSigner, pubkey }) => isSigner && pubkey.equals(hotSigner.publicKey)),
      );
      await chain.send(instructions, signs ? [hotSigner] : []);
      expect(feeLamports(instructions, payer)).toBe(lamports);
      expect(before - ((await chain.account(payer))?.lamports ?? 0)).toBe(lamports);
    };
    await taken([acknowledge(world, job)], 10_000);
    await taken([verification, proof], 10_000);
    await taken([settle(world, job)], 10_000);
    const other = await lockJob(world);
    const [verified, proven] = prove(world, other);
    const whole = [verified, acknowledge(world, other), proven, settle(world, other)];
    await taken(whole, 15_000);
    const late = await lockJob(world);
    await chain.setTime((await chain.now()) + 121n);
    await taken([refund(world, late)], 5_000);
  });

  it('refuses instructions that do not fit into a packet', async () => {
    const world = await createWorld();
    const { instruction } = await composeLock(world);
    const payer = world.chain.payer.publicKey;
    const locks = (jobs: number) => Array.from({ length: jobs }, () => instruction);
    const most = largestBatch(locks, payer);
    expect(feeLamports(locks(most), payer)).toBe(10_000);
    expect(() => feeLamports(locks(most + 1), payer)).toThrow(RangeError);
  });
});

describe('the fees of a job', () => {
  it('fall to less than half with shared transactions', () => {
    const { one_key, separate_fee_payer } = jobFees();
    expect(one_key.alone.total).toBe(25_000);
    expect(separate_fee_payer.alone.total).toBe(40_000);
    for (const { alone, batched } of [one_key, separate_fee_payer]) {
      expect(batched.total * 2).toBeLessThan(alone.total);
    }
  });
});
