import { describe, expect, it } from '@jest/globals';
import type { Keypair, PublicKey, TransactionInstruction } from '@solana/web3.js';
import { disputeExpire, disputeResolve, jobClose } from '../../programs/client/index.ts';
import { expectConserved } from './support/conservation.ts';
import {
  acknowledge,
  dispute,
  fail,
  jobIn,
  prove,
  readJob,
  refund,
  STATUS,
  settle,
} from './support/jobs.ts';
import { createWorld, hashOf, type World } from './support/world.ts';

type Status = keyof typeof STATUS;

/** What an instruction does in each status, for a signer with every right: a status or a refusal. */
const table: Record<string, Record<Status, string>> = {
  acknowledge: {
    pending: 'processing',
    processing: 'processing',
    settling: 'WrongJobStatus',
    settled: 'WrongJobStatus',
    failed: 'WrongJobStatus',
    refunded: 'WrongJobStatus',
    disputed: 'WrongJobStatus',
  },
  prove: {
    pending: 'WrongAddress',
    processing: 'settling',
    settling: 'settling',
    settled: 'WrongJobStatus',
    failed: 'WrongAddress',
    refunded: 'WrongAddress',
    disputed: 'WrongJobStatus',
  },
  settle: {
    pending: 'WrongAddress',
    processing: 'WrongJobStatus',
    settling: 'settled',
    settled: 'WrongJobStatus',
    failed: 'WrongAddress',
    refunded: 'WrongAddress',
    disputed: 'WrongJobStatus',
  },
  fail: {
    pending: 'failed',
    processing: 'failed',
    settling: 'failed',
    settled: 'WrongJobStatus',
    failed: 'WrongJobStatus',
    refunded: 'WrongJobStatus',
    disputed: 'WrongJobStatus',
  },
  refund: {
    pending: 'DeadlineNotReached',
    processing: 'DeadlineNotReached',
    settling: 'DeadlineNotReached',
    settled: 'WrongJobStatus',
    failed: 'WrongJobStatus',
    refunded: 'WrongJobStatus',
    disputed: 'WrongJobStatus',
  },
  dispute: {
    pending: 'WrongJobStatus',
    processing: 'WrongJobStatus',
    settling: 'WrongJobStatus',
    settled: 'disputed',
    failed: 'WrongJobStatus',
    refunded: 'WrongJobStatus',
    disputed: 'AlreadyDisputed',
  },
  resolve: {
    pending: 'WrongAddress',
    processing: 'WrongJobStatus',
    settling: 'WrongJobStatus',
    settled: 'WrongJobStatus',
    failed: 'WrongAddress',
    refunded: 'WrongAddress',
    disputed: 'settled',
  },
  expire: {
    pending: 'WrongJobStatus',
    processing: 'WrongJobStatus',
    settling: 'WrongJobStatus',
    settled: 'WrongJobStatus',
    failed: 'WrongJobStatus',
    refunded: 'WrongJobStatus',
    disputed: 'ArbitrationOpen',
  },
  close: {
    pending: 'JobNotClosable',
    processing: 'JobNotClosable',
    settling: 'JobNotClosable',
    settled: 'JobNotClosable',
    failed: 'JobNotClosable',
    refunded: 'closed',
    disputed: 'JobNotClosable',
  },
};

/** Who has the right to an instruction that asks for a signer. */
const rights: Record<string, (keyof World)[]> = {
  acknowledge: ['hotSigner'],
  settle: ['hotSigner'],
  fail: ['hotSigner'],
  dispute: ['hotSigner', 'wallet'],
  resolve: ['arbiter'],
};
const everybody = [
  'hotSigner',
  'wallet',
  'arbiter',
  'authority',
  'operator',
  'workerAuthority',
  'stranger',
] as const;

const compose = (
  world: World,
  name: string,
  job: PublicKey,
  signer: Keypair,
): TransactionInstruction[] => {
  const { creditAccount, worker, gateway, chain } = world;
  const actor = { signer: signer.publicKey, gateway };
  switch (name) {
    case 'acknowledge':
      return [acknowledge(world, job, { ...actor, attempt: 9 })];
    case 'prove':
      return prove(world, job);
    case 'settle':
      return [settle(world, job, actor)];
    case 'fail':
      return [fail(world, job, actor)];
    case 'refund':
      return [refund(world, job)];
    case 'dispute':
      return [dispute(world, job, actor)];
    case 'resolve':
      return [
        disputeResolve({
          arbiter: signer.publicKey,
          job,
          creditAccount,
          worker,
          verdict: 1,
          evidenceHash: hashOf('evidence'),
        }),
      ];
    case 'expire':
      return [disputeExpire({ job, creditAccount })];
    case 'close':
      return [jobClose({ job, rentPayer: chain.payer.publicKey })];
    default:
      throw new Error(`no instruction ${name}`);
  }
};

/** The job's status afterwards, or why the instruction was refused. */
async function attempt(
  world: World,
  job: PublicKey,
  instructions: TransactionInstruction[],
  signers: Keypair[],
): Promise<string> {
  try {
    await world.chain.send(instructions, signers);
  } catch (error) {
    return (error as Error).message;
  }
  if ((await world.chain.account(job)) === null) return 'closed';
  const { status } = await readJob(world, job);
  return Object.keys(STATUS).find((name) => STATUS[name as Status] === status) ?? '';
}

describe.each(Object.keys(table))('%s', (name) => {
  it.each(Object.keys(STATUS) as Status[])(
    'does for a job that is %s what the table says, whoever signs',
    async (status) => {
      const world = await createWorld();
      const job = await jobIn(world, status);
      const expected = table[name]?.[status];
      const entitled = rights[name];
      if (entitled === undefined) {
        const instructions = compose(world, name, job, world.stranger);
        expect(await attempt(world, job, instructions, [])).toBe(expected);
        return expectConserved(world);
      }
      for (const person of everybody.filter((key) => !entitled.includes(key))) {
        const signer = world[person];
        const outcome = await attempt(world, job, compose(world, name, job, signer), [signer]);
        expect(['Unauthorized', expected]).toContain(outcome);
        expect((await readJob(world, job)).status).toBe(STATUS[status]);
      }
      const signer = world[entitled[0] as 'hotSigner'];
      const outcome = await attempt(world, job, compose(world, name, job, signer), [signer]);
      expect(outcome).toBe(expected);
      await expectConserved(world);
    },
  );
});
