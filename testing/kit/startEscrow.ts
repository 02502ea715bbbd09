import { type Cast, createCast } from './cast.ts';
import type { Chain } from './chain.ts';
import { type CreditVerbs, createCreditVerbs } from './credits.ts';
import { createJobVerbs, type JobVerbs } from './jobs.ts';
import { startLedger } from './ledgers.ts';
import { type EscrowOptions, expectKnownOptions } from './options.ts';
import { openProgram, openWallet, openWorker, STANDARD_MODEL } from './setUp.ts';

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

/**
 * Starts the program with models, workers and funded wallets, ready for a job.
 *
 * @throws TypeError naming an unknown option; Error naming the package of the ledger if it is missing
 */
export async function startEscrow(options: EscrowOptions = {}): Promise<Escrow> {
  expectKnownOptions(options);
  const { ledger = 'litesvm', ...plan } = options;
  const chain = await startLedger(ledger);
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
  const cast = await createCast(chain, { wallets: wallets.length, workers: workers.length });
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
