import type { PublicKey, TransactionInstruction } from '@solana/web3.js';
import type { DisputeOutcome } from '../../../programs/client/generated/vocabulary.ts';
import { verdictInstruction } from '../../../programs/client/index.ts';
import { evidenceFor, PAST_WINDOW_SECONDS } from '../../../testing/kit/jobInstructions.ts';
import { readJob } from './jobs.ts';
import { send, type World } from './world.ts';

/** The arbiter's verdict, with the evidence that the program demands. */
export async function composeVerdict(
  world: World,
  job: PublicKey,
  verdict: DisputeOutcome,
): Promise<TransactionInstruction> {
  const evidence = evidenceFor(world, job, await readJob(world, job), verdict);
  const { arbiter, creditAccount, worker } = world;
  const named = { arbiter: arbiter.publicKey, job, creditAccount, worker, verdict };
  return verdictInstruction(evidence, named);
}

/** Moves the Clock to where no job that is settled by now can be disputed any more. */
export async function passDisputeWindow({ chain }: Pick<World, 'chain'>): Promise<void> {
  await chain.setTime((await chain.now()) + PAST_WINDOW_SECONDS);
}

/** Has the arbiter decide as soon as the program lets him. */
export async function decide(world: World, job: PublicKey, verdict: DisputeOutcome): Promise<void> {
  await passDisputeWindow(world);
  await send(world, await composeVerdict(world, job, verdict));
}
