import { PublicKey, type TransactionInstruction } from '@solana/web3.js';
import { NO_LIMIT } from '../../programs/client/generated/constants.ts';
import {
  type ConfigSettings,
  configInitialize,
  creditBuy,
  creditOpen,
  gatewayOpen,
  gatewayVouch,
  type Json,
  modelCardHash,
  modelUpsert,
  stakeDeposit,
  workerHost,
  workerRegister,
} from '../../programs/client/index.ts';
import { addresses, type Cast, type TestWallet, type TestWorker } from './cast.ts';

/** A model, its prices, and what it pins: its card, or a card's hash. */
export type ModelOffer = Omit<Parameters<typeof modelUpsert>[0], 'authority' | 'programId'> & {
  readonly card?: Json;
};

/** The default model: 8 credits a request, 4 per 1,000 tokens above 500. */
export const STANDARD_MODEL = {
  id: 'standard-8b',
  tier: 'standard',
  label: '8B',
  originator: 'Originator',
  contextWindowTokens: 32_768,
  creditsPerRequest: 8,
  creditsPer1kTokens: 4,
  longCompletionThresholdTokens: 500,
} satisfies ModelOffer;

/** The program's default settings. */
export const DEFAULT_SETTINGS = {
  treasuryShareBasisPoints: 1_500,
  unstakeCooldownSeconds: 48 * 60 * 60,
  openDisputesMax: 2,
  minimumStakeTokens: 1_000n,
  slashTokens: 500,
  jobCreditsMax: 1_000n,
  creditAccountCreditsMax: 1_000_000n,
  treasuryFloorCredits: 0n,
} satisfies Omit<ConfigSettings, 'arbiter'>;

export const initializeInstruction = (
  cast: Pick<Cast, 'chain' | 'authority' | 'arbiter' | 'creditMint' | 'stakeMint'>,
  settings: Partial<ConfigSettings> = {},
): TransactionInstruction =>
  configInitialize({
    authority: cast.authority.publicKey,
    creditMint: cast.creditMint,
    stakeMint: cast.stakeMint,
    programData: cast.chain.programData,
    arbiter: cast.arbiter.publicKey,
    ...DEFAULT_SETTINGS,
    ...settings,
  });

/** Opens the Gateway with its one hot signer; the authority vouches for it. */
const gatewayInstructions = ({
  operator,
  hotSigner,
  authority,
  gateway,
}: Pick<Cast, 'operator' | 'hotSigner' | 'authority' | 'gateway'>): TransactionInstruction[] => [
  gatewayOpen({
    payer: operator.publicKey,
    operator: operator.publicKey,
    signers: [hotSigner.publicKey],
  }),
  gatewayVouch({ authority: authority.publicKey, gateway, vouched: true }),
];

export const modelInstruction = (
  { authority }: Pick<Cast, 'authority'>,
  { card, ...changes }: Partial<ModelOffer> = {},
): TransactionInstruction =>
  modelUpsert({
    authority: authority.publicKey,
    ...STANDARD_MODEL,
    ...(card !== undefined && { cardHash: modelCardHash(card) }),
    ...changes,
  });

/** Binds a spender by nothing but the wallet's credits. */
export const UNLIMITED = {
  limitPerJobCredits: NO_LIMIT,
  limitPerDayCredits: NO_LIMIT,
} as const;

/** Names no spender, and no limits. */
export const NO_SPENDER = {
  spender: PublicKey.default,
  limitPerJobCredits: 0n,
  limitPerDayCredits: 0n,
} as const;

/** Opens the wallet's CreditAccount; the wallet trusts the Gateway, without limits. */
const openInstruction = (
  { gateway }: Pick<Cast, 'gateway'>,
  { keypair }: TestWallet,
): TransactionInstruction =>
  creditOpen({
    payer: keypair.publicKey,
    wallet: keypair.publicKey,
    spender: gateway,
    ...UNLIMITED,
  });

export const buyInstruction = (
  { keypair, tokens }: Pick<TestWallet, 'keypair' | 'tokens'>,
  credits: bigint,
): TransactionInstruction =>
  creditBuy({
    buyer: keypair.publicKey,
    buyerTokenAccount: tokens,
    wallet: keypair.publicKey,
    credits,
  });

/** Registers, stakes and hosts in one transaction. */
const workerInstructions = (
  worker: TestWorker,
  { stakeTokens, modelIds }: { stakeTokens: bigint; modelIds: readonly string[] },
): TransactionInstruction[] => {
  const authority = worker.authority.publicKey;
  return [
    workerRegister({
      authority,
      payout: worker.payout,
      proofKey: worker.proofKey.publicKey,
      endpoint: 'https://worker.example',
    }),
    stakeDeposit({
      depositor: authority,
      depositorTokenAccount: worker.stakeTokens,
      worker: addresses.worker(authority),
      tokens: stakeTokens,
    }),
    ...modelIds.map((modelId) => workerHost({ authority, modelId })),
  ];
};

/** Initializes the program, with its models and the Gateway. */
export async function openProgram(
  cast: Cast,
  input: { settings: Partial<ConfigSettings>; models: readonly ModelOffer[] },
): Promise<void> {
  const { chain, authority, operator } = cast;
  await chain.send([initializeInstruction(cast, input.settings)], [authority]);
  for (const model of input.models) await chain.send([modelInstruction(cast, model)], [authority]);
  await chain.send(gatewayInstructions(cast), [operator, authority]);
}

/** Opens a wallet's CreditAccount and buys its credits, if any. */
export async function openWallet(cast: Cast, wallet: TestWallet, credits: bigint): Promise<void> {
  const buy = credits > 0n ? [buyInstruction(wallet, credits)] : [];
  await cast.chain.send([openInstruction(cast, wallet), ...buy], [wallet.keypair]);
}

export async function openWorker(
  { chain }: Cast,
  worker: TestWorker,
  offer: Parameters<typeof workerInstructions>[1],
): Promise<void> {
  await chain.send(workerInstructions(worker, offer), [worker.authority]);
}
