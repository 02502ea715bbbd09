import type { ConfigSettings } from '../../programs/client/index.ts';
import { startBankrun } from './bankrun.ts';
import { type Cast, createCast, type OneOrMore } from './cast.ts';
import type { Chain } from './chain.ts';
import { type CreditVerbs, createCreditVerbs } from './credits.ts';
import { createJobVerbs, type JobVerbs } from './jobs.ts';
import { startLiteSvm } from './litesvm.ts';
import { type ModelOffer, openProgram, openWallet, openWorker, STANDARD_MODEL } from './setUp.ts';

export interface EscrowOptions {
  /**
   * The runtime, inside this process. `litesvm` (the default) verifies the worker's signatures and
   * returns events. `bankrun` does neither: it is for projects that use solana-bankrun.
   */
  readonly ledger?: 'litesvm' | 'bankrun';
  /** Changes to DEFAULT_SETTINGS. */
  readonly settings?: Partial<ConfigSettings>;
  /** By default STANDARD_MODEL. */
  readonly models?: OneOrMore<ModelOffer>;
  /** By default one with 10,000 credits. */
  readonly wallets?: OneOrMore<{ readonly credits?: bigint }>;
  /** By default one with the minimum stake that hosts every model. */
  readonly workers?: OneOrMore<{
    readonly stakeTokens?: bigint;
    readonly modelIds?: readonly string[];
  }>;
}

/** The running program, its parties, and their actions. */
export interface Escrow extends Cast, JobVerbs, CreditVerbs, Pick<Chain, Passed> {
  /** Advances the Clock. */
  advanceSeconds(seconds: number): Promise<void>;
  /** Ends the ledger. */
  stop(): void;
}

type Passed = 'now' | 'setTime' | 'send' | 'tokens' | 'lastEvents';

export const CREDITS = 10_000n;
export const STAKE_TOKENS = 1_000n;

/** Starts the program with models, workers and funded wallets, ready for a job. */
export async function startEscrow({
  ledger = 'litesvm',
  ...plan
}: EscrowOptions = {}): Promise<Escrow> {
  const chain = ledger === 'bankrun' ? await startBankrun() : startLiteSvm();
  try {
    return await openEscrow(chain, plan);
  } catch (error) {
    chain.close();
    throw error;
  }
}

/** The same on a started chain. */
export async function openEscrow(
  chain: Chain,
  {
    settings = {},
    models = [STANDARD_MODEL],
    wallets = [{}],
    workers = [{}],
  }: Omit<EscrowOptions, 'ledger'> = {},
): Promise<Escrow> {
  const cast = createCast(chain, { wallets: wallets.length, workers: workers.length });
  await openProgram(cast, { settings, models });
  for (const [index, wallet] of cast.wallets.entries()) {
    await openWallet(cast, wallet, wallets[index]?.credits ?? CREDITS);
  }
  const offer = {
    stakeTokens: settings.minimumStakeTokens ?? STAKE_TOKENS,
    modelIds: models.map(({ id }) => id),
  };
  for (const [index, worker] of cast.workers.entries()) {
    await openWorker(cast, worker, { ...offer, ...workers[index] });
  }
  return {
    ...cast,
    ...createJobVerbs(cast, models),
    ...createCreditVerbs(cast),
    now: chain.now,
    setTime: chain.setTime,
    send: chain.send,
    tokens: chain.tokens,
    lastEvents: chain.lastEvents,
    advanceSeconds: async (seconds) => chain.setTime((await chain.now()) + BigInt(seconds)),
    stop: chain.close,
  };
}
