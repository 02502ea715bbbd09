import { describe, expect, it } from '@jest/globals';
import type { Keypair, PublicKey, TransactionInstruction } from '@solana/web3.js';
import {
  claimPay,
  disputeExpire,
  disputeResolve,
  jobClose,
  stakeDeposit,
} from '../../programs/client/index.ts';
import { createRandom } from '../support/random.ts';
import { expectConserved } from './support/conservation.ts';
import {
  ANSWER,
  acknowledge,
  composeLock,
  dispute,
  fail,
  prove,
  readJob,
  refund,
  STATUS,
  settle,
} from './support/jobs.ts';
import * as model from './support/model.ts';
import { addresses, CREDITS, createWorld, hashOf, STAKE_TOKENS } from './support/world.ts';

const STEPS = Number(process.env.WALK_STEPS ?? 1_500);
const PROVEN_TOKENS = 2_500;
/** Seeds that once failed stay here. */
const seeds = [1, ...(process.env.SEED === undefined ? [] : [Number(process.env.SEED)])];

describe.each(seeds)('a random walk with seed %i', (seed) => {
  it(`agrees with the model after each of ${STEPS} steps`, async () => {
    const random = createRandom(seed);
    const world = await createWorld({ openDisputesMax: 3 });
    const { chain, hotSigner, wallet, arbiter, creditAccount, worker } = world;
    const jobs = new Map<PublicKey, model.ModelJob>();
    const books: model.Books = {
      available: CREDITS,
      locked: 0n,
      owed: 0n,
      openDisputes: 0,
      exposure: 0n,
      treasury: 0n,
      stake: STAKE_TOKENS,
      slashed: 0n,
    };
    let now = await chain.now();

    /** Sends, and checks that the program agrees with the model on whether this may happen. */
    const attempt = async (
      allowed: boolean,
      instructions: TransactionInstruction[],
      signers: Keypair[] = [],
    ): Promise<boolean> => {
      const outcome = await chain.send(instructions, signers).then(
        () => 'success',
        (error: Error) => error.message,
      );
      expect({ allowed, outcome }).toEqual({
        allowed: outcome === 'success',
        outcome: allowed ? 'success' : outcome,
      });
      return allowed;
    };
    const pick = (): [PublicKey, model.ModelJob] | undefined => {
      const all = [...jobs];
      return all[random.below(all.length)];
    };
    const inTime = (job: model.ModelJob): boolean => now <= job.lockedAt + model.TIMEOUT;

    const steps: Record<string, (address: PublicKey, job: model.ModelJob) => Promise<void>> = {
      async acknowledge(address, job) {
        const attemptNumber = 1;
        const repeats = job.status === 'processing' || job.status === 'settling';
        const fresh = job.status === 'pending' && inTime(job) && books.stake >= 1_000n;
        const instruction = acknowledge(world, address, { attempt: attemptNumber });
        if (await attempt(repeats || fresh, [instruction], [hotSigner])) {
          if (job.status === 'pending') job.status = 'processing';
        }
      },
      async prove(address, job) {
        const fresh = job.status === 'processing' && inTime(job);
        if (
          await attempt(
            fresh || job.status === 'settling',
            prove(world, address, { completionTokens: PROVEN_TOKENS }),
          )
        ) {
          job.status = 'settling';
        }
      },
      async settle(address, job) {
        const countedTokens = random.below(4_000);
        const allowed = job.status === 'settling' && inTime(job) && countedTokens > 0;
        const instruction = settle(world, address, { countedTokens });
        if (await attempt(allowed, [instruction], [hotSigner])) {
          model.settle(books, job, Math.min(countedTokens, PROVEN_TOKENS));
          job.status = 'settled';
          job.endedAt = now;
        }
      },
      async fail(address, job) {
        const differs = random.below(2) === 0;
        const allowed =
          model.holdsLock(job) && inTime(job) && (job.status !== 'settling' || differs);
        const deliveredHash = differs ? hashOf('other') : ANSWER;
        const instruction = fail(world, address, { deliveredHash, countedTokens: 5 });
        if (await attempt(allowed, [instruction], [hotSigner])) {
          model.release(books, job);
          job.status = 'failed';
        }
      },
      async refund(address, job) {
        const allowed = model.holdsLock(job) && !inTime(job);
        if (await attempt(allowed, [refund(world, address)])) {
          model.release(books, job);
          job.status = 'refunded';
        }
      },
      async dispute(address, job) {
        const allowed =
          job.status === 'settled' &&
          job.outcome === 0 &&
          now <= job.endedAt + model.DISPUTE_WINDOW &&
          books.openDisputes < 3;
        if (await attempt(allowed, [dispute(world, address)], [wallet])) {
          job.status = 'disputed';
          job.disputedAt = now;
          books.openDisputes += 1;
          books.exposure += job.charge * 10_000n;
        }
      },
      async resolve(address, job) {
        const verdict = 1 + random.below(3);
        const allowed =
          job.status === 'disputed' && now <= job.disputedAt + model.ARBITRATION_WINDOW;
        const evidenceHash = hashOf('evidence');
        const verdictOn = { arbiter: arbiter.publicKey, job: address, creditAccount, worker };
        const instruction = disputeResolve({ ...verdictOn, verdict, evidenceHash });
        if (await attempt(allowed, [instruction], [arbiter])) {
          model.resolve(books, job, verdict);
          job.status = verdict === 1 ? 'settled' : 'refunded';
          job.outcome = verdict;
        }
      },
      async expire(address, job) {
        const allowed =
          job.status === 'disputed' && now > job.disputedAt + model.ARBITRATION_WINDOW;
        if (await attempt(allowed, [disputeExpire({ job: address, creditAccount })])) {
          job.status = 'settled';
          job.outcome = 4;
          books.openDisputes -= 1;
          books.exposure -= job.charge * 10_000n;
        }
      },
      async close(address, job) {
        const isFinal =
          job.status === 'failed' ||
          job.status === 'refunded' ||
          (job.status === 'settled' &&
            (job.outcome !== 0 || now > job.endedAt + model.DISPUTE_WINDOW));
        const allowed = isFinal && now >= job.lockedAt + 120n;
        const rentPayer = chain.payer.publicKey;
        if (await attempt(allowed, [jobClose({ job: address, rentPayer })])) jobs.delete(address);
      },
    };
    const names = Object.keys(steps);

    for (let step = 0; step < STEPS; step += 1) {
      const choice = random.below(20);
      const picked = pick();
      if (choice < 5 && jobs.size < 12) {
        const tokenLimit = 1 + random.below(4_000);
        const { instruction, job } = await composeLock(world, { tokenLimit });
        const lock = model.lockOf(tokenLimit);
        if (await attempt(lock <= books.available, [instruction], [hotSigner])) {
          books.available -= lock;
          books.locked += lock;
          jobs.set(job, {
            status: 'pending',
            lockedAt: now,
            lock,
            charge: 0n,
            endedAt: 0n,
            disputedAt: 0n,
            outcome: 0,
          });
        }
      } else if (choice === 5) {
        const seconds = [1, 59, 60, 61, 119, 120, 121, 86_401][random.below(8)] as number;
        now += BigInt(seconds);
        await chain.setTime(now);
      } else if (choice === 6) {
        const covered = books.treasury / 10_000n > 0n && books.owed > 0n;
        if (await attempt(covered, [claimPay({ claimant: creditAccount })])) model.claim(books);
      } else if (choice === 7 && books.stake < 1_000n) {
        const tokens = 1_000n - books.stake;
        const deposit = stakeDeposit({
          depositor: world.workerAuthority.publicKey,
          depositorTokenAccount: world.stakeTokens,
          worker,
          tokens,
        });
        await attempt(true, [deposit], [world.workerAuthority]);
        books.stake += tokens;
      } else if (picked !== undefined) {
        const [address, job] = picked;
        await steps[names[random.below(names.length)] as string]?.(address, job);
        if (jobs.has(address)) {
          const { status } = await readJob(world, address);
          expect(status).toBe(STATUS[job.status]);
        }
      }
      const account = await world.read('CreditAccount', creditAccount);
      const treasury = await world.read('Treasury', addresses.treasury);
      expect(account).toMatchObject({
        availableCredits: books.available,
        lockedCredits: books.locked,
        owedCredits: books.owed,
        openDisputes: books.openDisputes,
      });
      expect(treasury).toMatchObject({
        disputedExposureBaseUnits: books.exposure,
        slashedStakeTokens: books.slashed,
      });
      expect(await chain.tokens(addresses.treasuryVault)).toBe(books.treasury);
      await expectConserved(world);
    }

    // Whatever happened, everybody can be let out: nothing stays locked for ever.
    now += model.TIMEOUT + 1n;
    await chain.setTime(now);
    for (const [address, job] of jobs) {
      if (model.holdsLock(job)) await steps.refund?.(address, job);
    }
    expect((await world.read('CreditAccount', creditAccount)).lockedCredits).toBe(0n);
  }, 300_000);
});
