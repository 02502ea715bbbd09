import type { Keypair, PublicKey } from '@solana/web3.js';
import { type AccountName, gatewayOpen } from '../../../programs/client/index.ts';
import { jobIn } from './jobs.ts';
import { addWallet, addWorker } from './newcomers.ts';
import { addresses, modelInstruction, type World } from './world.ts';

/** What there is besides the one of each kind that a step is about. */
export interface Others {
  /** Signs, pays, and has no rights. */
  readonly outsider: Keypair;
  /** Another account of a kind that can have several. */
  readonly accounts: Partial<Record<AccountName, PublicKey>>;
}

/** @param name the step's instruction: before the program is initialized there are no accounts */
export async function openOthers(world: World, name: string): Promise<Others> {
  const outsider = await world.person();
  if (name === 'config_initialize') return { outsider, accounts: {} };
  const { chain, authority } = world;
  const wallet = await addWallet(world);
  const worker = await addWorker(world);
  const operator = await world.person();
  const openGateway = gatewayOpen({
    payer: operator.publicKey,
    operator: operator.publicKey,
    signers: [outsider.publicKey],
  });
  const addModel = modelInstruction(world, { id: 'another-model' });
  await chain.send([openGateway, addModel], [operator, authority]);
  const { keypair, creditAccount } = wallet;
  return {
    outsider,
    accounts: {
      CreditAccount: creditAccount,
      Worker: worker.address,
      Gateway: addresses.gateway(operator.publicKey),
      Model: addresses.model('another-model'),
      Job: await jobIn({ ...world, wallet: keypair, creditAccount }, 'processing'),
    },
  };
}
