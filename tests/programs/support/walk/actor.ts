import type { Keypair } from '@solana/web3.js';
import type { JobBook } from './books.ts';
import { rarely, type Walk } from './walk.ts';

/** What can be done about a job, allowed or not. */
export type Act = (walk: Walk, job: JobBook) => Promise<void>;

/** The parties of a job, as the builders of its instructions take them. */
export const partiesOf = ({ world }: Walk, { wallet, worker }: JobBook) => ({
  ...world,
  wallet: wallet.party.keypair,
  creditAccount: wallet.party.creditAccount,
  worker: worker?.party.address ?? world.worker,
  payout: worker?.party.payout ?? world.payout,
  proofKey: worker?.party.proofKey ?? world.proofKey,
});

/** The key that signs for the job's controller. */
export const controllerOf = ({ world }: Walk, { isGateways, wallet }: JobBook): Keypair =>
  isGateways ? world.hotSigner : wallet.party.keypair;

/** Who signs for the controller, now and then somebody else, and whether that is allowed. */
export function actorOf(walk: Walk, job: JobBook) {
  const { world, books } = walk;
  const controller = controllerOf(walk, job);
  const key: Keypair = rarely(walk, 12) ? world.stranger : controller;
  const isTrusted = !job.isGateways || books.gateway.trustsHotSigner;
  return {
    key,
    mayAct: key === controller && isTrusted,
    actor: { signer: key.publicKey, gateway: world.gateway },
  };
}
