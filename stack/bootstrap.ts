import type { Keypair, PublicKey } from '@solana/web3.js';
import type { Tier } from '../programs/client/generated/vocabulary.ts';
import {
  configInitialize,
  gatewayOpen,
  gatewayVouch,
  modelUpsert,
} from '../programs/client/instructions.ts';
import { modelCardHash } from '../programs/client/proof.ts';
import builtinCard from './modelCards/builtin.json' with { type: 'json' };
import { addressesOf, exists, type Mints, type Operator, submit } from './operator.ts';

/** One model as the operator offers it; prices are whole credits. */
export interface CatalogModel {
  readonly id: string;
  readonly tier: Tier;
  /** Parameter count. */
  readonly label: string;
  readonly originator: string;
  readonly contextWindowTokens: number;
  readonly creditsPerRequest: number;
  readonly creditsPer1kTokens: number;
  readonly longCompletionThresholdTokens: number;
  /** The sha256 of its card; by default none is pinned. */
  readonly cardHash?: Uint8Array;
}

const PRICES = {
  lite: { creditsPerRequest: 2, creditsPer1kTokens: 1 },
  standard: { creditsPerRequest: 8, creditsPer1kTokens: 4 },
  pro: { creditsPerRequest: 18, creditsPer1kTokens: 9 },
  max: { creditsPerRequest: 40, creditsPer1kTokens: 20 },
} as const;

const WINDOW_32K = 32_768;
const WINDOW_128K = 131_072;

/** The eight models that the service opens with. */
export const LAUNCH_CATALOG: readonly CatalogModel[] = (
  [
    ['max', 'llama-3.3-70b-instruct', '70B', 'Meta', WINDOW_128K],
    ['max', 'deepseek-r1-distill-llama-70b', '70B', 'DeepSeek', WINDOW_128K],
    ['pro', 'gemma-3-27b-it', '27B', 'Google', WINDOW_128K],
    ['pro', 'qwen3-14b', '14B', 'Alibaba', WINDOW_32K],
    ['standard', 'qwen3-8b', '8B', 'Alibaba', WINDOW_32K],
    ['standard', 'mistral-7b-instruct-v0.3', '7B', 'Mistral AI', WINDOW_32K],
    ['lite', 'llama-3.2-3b-instruct', '3B', 'Meta', WINDOW_128K],
    ['lite', 'qwen3-1.7b', '1.7B', 'Alibaba', WINDOW_32K],
  ] as const
).map(([tier, id, label, originator, contextWindowTokens]) => ({
  tier,
  id,
  label,
  originator,
  contextWindowTokens,
  ...PRICES[tier],
  longCompletionThresholdTokens: 500,
}));

/** Pins what the built-in engine is, which answers for every model. */
export const BUILTIN_CARD = { cardHash: modelCardHash(builtinCard) };

/** Creates the program's Config with the launch defaults, if it is not there yet. */
export async function initializeConfig(
  operator: Operator,
  input: { mints: Mints; arbiter: PublicKey },
): Promise<void> {
  const { config, programId } = addressesOf(operator);
  if (await exists(operator, config)) return;
  const initialize = configInitialize({
    programId,
    authority: operator.authority.publicKey,
    creditMint: input.mints.credit,
    stakeMint: input.mints.stake,
    arbiter: input.arbiter,
    treasuryShareBasisPoints: 1_500,
    unstakeCooldownSeconds: 48 * 3_600,
    // The wallet itself has as many again, in a byte.
    openDisputesMax: 127,
    minimumStakeTokens: 1_000n,
    slashTokens: 500,
    // A slash has to be worth more than one charge can bring.
    jobCreditsMax: 3_000n,
    creditAccountCreditsMax: 1_000_000_000n,
    treasuryFloorCredits: 3_000n,
  });
  await submit(operator, [initialize]);
}

/**
 * Opens the Gateway whose hot signers may spend for every wallet that names it, if it is not open
 * yet. The authority vouches for it, so that the treasury repays its jobs in full.
 *
 * @returns the Gateway's address
 */
export async function openGateway(
  operator: Operator,
  input: { gatewayOperator: Keypair; signers: PublicKey[] },
): Promise<PublicKey> {
  const { programId, ...addresses } = addressesOf(operator);
  const gateway = addresses.gateway(input.gatewayOperator.publicKey);
  if (await exists(operator, gateway)) return gateway;
  const open = gatewayOpen({
    programId,
    payer: operator.authority.publicKey,
    operator: input.gatewayOperator.publicKey,
    signers: input.signers,
  });
  const authority = operator.authority.publicKey;
  const vouch = gatewayVouch({ programId, authority, gateway, vouched: true });
  await submit(operator, [open, vouch], [input.gatewayOperator]);
  return gateway;
}

/** Adds a model to the catalog, if its id is not taken yet. */
export async function addModel(operator: Operator, model: CatalogModel): Promise<void> {
  const { programId, ...addresses } = addressesOf(operator);
  if (await exists(operator, addresses.model(model.id))) return;
  const upsert = modelUpsert({
    programId,
    ...model,
    tier: model.tier,
    authority: operator.authority.publicKey,
  });
  await submit(operator, [upsert]);
}
