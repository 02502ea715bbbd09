import { createHash } from 'node:crypto';
import { Keypair, type PublicKey, type TransactionInstruction } from '@solana/web3.js';
import {
  type AccountName,
  type Accounts,
  type ConfigSettings,
  configInitialize,
  createAddresses,
  creditBuy,
  creditOpen,
  decodeAccount,
  gatewayOpen,
  modelUpsert,
  stakeDeposit,
  workerHost,
  workerRegister,
} from '../../../programs/client/index.ts';
import { type Chain, startChain } from '../../support/chain.ts';

export const addresses = createAddresses();

/** The standard model of most cases: 8 credits a request, 4 per 1,000 tokens above 500. */
export const MODEL = {
  id: 'standard-8b',
  tier: 1,
  label: '8B',
  originator: 'Originator',
  contextWindowTokens: 32_768,
  creditsPerRequest: 8,
  creditsPer1kTokens: 4,
  longCompletionThresholdTokens: 500,
};

export const SETTINGS = {
  treasuryShareBasisPoints: 1_500,
  unstakeCooldownSeconds: 48 * 60 * 60,
  openDisputesMax: 2,
  minimumStakeTokens: 1_000n,
  slashTokens: 500,
  jobCreditsMax: 1_000n,
  creditAccountCreditsMax: 1_000_000n,
};

export const STAKE_DECIMALS = 9;
export const STAKE_TOKENS = 1_000n;
export const CREDITS = 10_000n;
export const BASE_UNITS_PER_CREDIT = 10_000n;
const RICH = 1_000_000_000_000n;

/** A chain with the program initialized, and everybody a job needs. */
export interface World {
  chain: Chain;
  authority: Keypair;
  arbiter: Keypair;
  creditMint: PublicKey;
  stakeMint: PublicKey;
  operator: Keypair;
  gateway: PublicKey;
  /** A signer of the gateway. */
  hotSigner: Keypair;
  wallet: Keypair;
  /** The wallet's stablecoin. */
  walletTokens: PublicKey;
  creditAccount: PublicKey;
  model: PublicKey;
  workerAuthority: Keypair;
  proofKey: Keypair;
  worker: PublicKey;
  /** The worker's stablecoin. */
  payout: PublicKey;
  /** Stake tokens of the worker's authority. */
  stakeTokens: PublicKey;
  /** Anybody: a key with lamports and no rights. */
  stranger: Keypair;
  read<Name extends AccountName>(name: Name, address: PublicKey): Promise<Accounts[Name]>;
  /** A funded key. */
  person(): Keypair;
  /** A fresh token account. */
  token(mint: PublicKey, owner: PublicKey, baseUnits?: bigint): PublicKey;
}

/** A chain with two mints and keys, on which the program is not initialized yet. */
export async function createBareWorld(given?: Chain): Promise<World> {
  const chain = given ?? (await startChain());
  let keys = 0;
  // The same keys in every run: an address costs more compute units the lower its bump.
  const newKey = (): Keypair => {
    keys += 1;
    return Keypair.fromSeed(hashOf(`key ${keys}`));
  };
  const person = (): Keypair => {
    const key = newKey();
    chain.fund(key.publicKey);
    return key;
  };
  const token = (mint: PublicKey, owner: PublicKey, baseUnits = 0n): PublicKey => {
    const address = newKey().publicKey;
    chain.setToken(address, { mint, owner, baseUnits });
    return address;
  };
  const mint = (decimals: number): PublicKey => {
    const address = newKey().publicKey;
    chain.setMint(address, decimals);
    return address;
  };
  const creditMint = mint(6);
  const stakeMint = mint(STAKE_DECIMALS);
  const operator = person();
  const wallet = person();
  const workerAuthority = person();
  return {
    chain,
    person,
    token,
    authority: chain.authority,
    arbiter: person(),
    creditMint,
    stakeMint,
    operator,
    gateway: addresses.gateway(operator.publicKey),
    hotSigner: person(),
    wallet,
    walletTokens: token(creditMint, wallet.publicKey, RICH),
    creditAccount: addresses.creditAccount(wallet.publicKey),
    model: addresses.model(MODEL.id),
    workerAuthority,
    proofKey: newKey(),
    worker: addresses.worker(workerAuthority.publicKey),
    payout: token(creditMint, workerAuthority.publicKey),
    stakeTokens: token(stakeMint, workerAuthority.publicKey, RICH * 10n ** 6n),
    stranger: person(),
    async read(name, address) {
      const account = await chain.account(address);
      if (account === null) throw new Error(`no ${name} at ${address}`);
      const decoded = decodeAccount(account.data);
      if (decoded.name !== name) throw new Error(`${address} is a ${decoded.name}, no ${name}`);
      return decoded.data as never;
    },
  };
}

export const initializeInstruction = (
  world: World,
  settings: Partial<ConfigSettings> = {},
): TransactionInstruction =>
  configInitialize({
    authority: world.authority.publicKey,
    creditMint: world.creditMint,
    stakeMint: world.stakeMint,
    programData: world.chain.programData,
    arbiter: world.arbiter.publicKey,
    ...SETTINGS,
    ...settings,
  });

export const modelInstruction = (
  world: World,
  changes: Partial<typeof MODEL> = {},
): TransactionInstruction =>
  modelUpsert({ authority: world.authority.publicKey, ...MODEL, ...changes });

/** Buys credits for the world's wallet. */
export const buyCredits = (world: World, credits: bigint): Promise<number> =>
  world.chain.send(
    [
      creditBuy({
        buyer: world.wallet.publicKey,
        buyerTokenAccount: world.walletTokens,
        wallet: world.wallet.publicKey,
        credits,
      }),
    ],
    [world.wallet],
  );

/** Registers, stakes and hosts in one transaction. */
export const workerInstructions = (
  world: World,
  tokens = STAKE_TOKENS,
): TransactionInstruction[] => {
  const authority = world.workerAuthority.publicKey;
  return [
    workerRegister({
      authority,
      payout: world.payout,
      proofKey: world.proofKey.publicKey,
      endpoint: 'https://worker.example',
    }),
    stakeDeposit({
      depositor: authority,
      depositorTokenAccount: world.stakeTokens,
      worker: world.worker,
      tokens,
    }),
    workerHost({ authority, modelId: MODEL.id }),
  ];
};

/**
 * A chain with the program initialized, one model, one gateway, one wallet with credits that trusts
 * the gateway, and one staked worker that hosts the model.
 */
export async function createWorld(
  settings: Partial<ConfigSettings> = {},
  given?: Chain,
): Promise<World> {
  const world = await createBareWorld(given);
  const { chain, authority, operator, wallet } = world;
  await chain.send([initializeInstruction(world, settings)], [authority]);
  await chain.send([modelInstruction(world)], [authority]);
  await chain.send(
    [
      gatewayOpen({
        payer: operator.publicKey,
        operator: operator.publicKey,
        signers: [world.hotSigner.publicKey],
      }),
      creditOpen({ payer: wallet.publicKey, wallet: wallet.publicKey, spender: world.gateway }),
    ],
    [operator, wallet],
  );
  await buyCredits(world, CREDITS);
  await chain.send(workerInstructions(world), [world.workerAuthority]);
  return world;
}

/** A sha256 to tell texts apart. */
export const hashOf = (text: string): Uint8Array =>
  new Uint8Array(createHash('sha256').update(text).digest());
