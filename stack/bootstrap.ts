import type { Keypair, PublicKey } from '@solana/web3.js';
import { createAddresses } from '../programs/client/addresses.ts';
import {
  configInitialize,
  gatewayOpen,
  modelUpsert,
} from '../programs/client/instructions/index.ts';
import { TIERS } from '../programs/client/vocabulary.ts';
import type { CatalogModel } from './catalog.ts';
import { exists, type Operator, submit } from './operator.ts';
import type { Mints } from './tokens.ts';

const addresses = createAddresses();

/** Creates the program's Config with the launch defaults, if it is not there yet. */
export async function initializeConfig(
  operator: Operator,
  input: { mints: Mints; arbiter: PublicKey },
): Promise<void> {
  if (await exists(operator, addresses.config)) return;
  const initialize = configInitialize({
    authority: operator.authority.publicKey,
    creditMint: input.mints.credit,
    stakeMint: input.mints.stake,
    arbiter: input.arbiter,
    treasuryShareBasisPoints: 1_500,
    unstakeCooldownSeconds: 48 * 3_600,
    openDisputesMax: 5,
    minimumStakeTokens: 1_000n,
    slashTokens: 500,
    jobCreditsMax: 100_000n,
    creditAccountCreditsMax: 1_000_000_000n,
  });
  await submit(operator, [initialize]);
}

/**
 * Opens the Gateway whose hot signers may spend for every wallet that names it, if it is not open
 * yet.
 *
 * @returns the Gateway's address
 */
export async function openGateway(
  operator: Operator,
  input: { gatewayOperator: Keypair; signers: PublicKey[] },
): Promise<PublicKey> {
  const gateway = addresses.gateway(input.gatewayOperator.publicKey);
  if (await exists(operator, gateway)) return gateway;
  const open = gatewayOpen({
    payer: operator.authority.publicKey,
    operator: input.gatewayOperator.publicKey,
    signers: input.signers,
  });
  await submit(operator, [open], [input.gatewayOperator]);
  return gateway;
}

/** Adds a model to the catalog, if its id is not taken yet. */
export async function addModel(operator: Operator, model: CatalogModel): Promise<void> {
  if (await exists(operator, addresses.model(model.id))) return;
  const upsert = modelUpsert({
    ...model,
    tier: TIERS.indexOf(model.tier),
    authority: operator.authority.publicKey,
  });
  await submit(operator, [upsert]);
}
