import { PublicKey } from '#platform';
import { type DecodedAccount, modelText } from '../../accounts.ts';
import type { Addresses } from '../../addresses.ts';
import {
  ARBITRATION_WINDOW_SECONDS,
  BASIS_POINTS,
  CREDITS_MAX,
  DISPUTE_WINDOW_SECONDS,
  JOB_DECIDED_SECONDS,
  JOB_TIMEOUT_SECONDS,
  STAKE_DECIMALS_MAX,
  STAKE_TOKENS_MAX,
  UNSTAKE_COOLDOWN_SECONDS_MAX,
} from '../../generated/constants.ts';
import type { Config } from '../../generated/types.ts';
import { notCheckable } from '../check.ts';
import { accountsNamed, judgeProblems, namesOfTrue, programRule } from './state.ts';

/** Nothing that belongs to the program is of a kind or version that is not understood. */
export const readable = programRule('accounts.readable', ({ unreadable, decoded, blank }) =>
  judgeProblems(
    unreadable.map(({ address, reason }) => `${address}: ${reason}`),
    `Accounts: ${decoded.size}; blank ones, which mean nothing: ${blank.length}.`,
  ),
);

/** Each account is at the only address where the program would have made it. */
export const addresses = programRule('accounts.addresses', ({ addresses: known, decoded }) =>
  judgeProblems(
    [...decoded].flatMap(([address, account]) => {
      const expected = addressOf(account, known).toBase58();
      return expected === address ? [] : [`${account.name} ${address} should be at ${expected}`];
    }),
    'Every account is where its seeds put it.',
  ),
);

function addressOf({ name, data }: DecodedAccount, known: Addresses): PublicKey {
  switch (name) {
    case 'Config':
      return known.config;
    case 'Treasury':
      return known.treasury;
    case 'Gateway':
      return known.gateway(data.operator);
    case 'CreditAccount':
      return known.creditAccount(data.wallet);
    case 'Model':
      return known.model(modelText(data).id);
    case 'Worker':
      return known.worker(data.authority);
    case 'Job':
      return known.job(data.creditAccount, data.jobId);
  }
}

/** The configuration has only values that the program would accept. */
export const config = programRule('config.invariants', (state) => {
  const [found] = accountsNamed(state, 'Config');
  if (!found) return notCheckable('The program is not initialized.');
  const { treasuryShareBasisPoints, minimumStakeTokens, slashTokens } = found.data;
  return judgeProblems(
    findProblems(found.data, state.addresses),
    `Treasury share ${treasuryShareBasisPoints} basis points, minimum stake ` +
      `${minimumStakeTokens}, slash ${slashTokens} tokens.`,
  );
});

function findProblems(config: Config, addresses: Addresses): string[] {
  return namesOfTrue({
    'there is no authority': config.authority.equals(PublicKey.default),
    'there is no arbiter': config.arbiter.equals(PublicKey.default),
    'authority and arbiter are the same': config.authority.equals(config.arbiter),
    'the slash exceeds the minimum stake': BigInt(config.slashTokens) > config.minimumStakeTokens,
    'the treasury takes more than all': BigInt(config.treasuryShareBasisPoints) > BASIS_POINTS,
    'unstaking ends before verdicts do': config.unstakeCooldownSeconds < JOB_DECIDED_SECONDS,
    'stake is held back for more than 30 days':
      config.unstakeCooldownSeconds > UNSTAKE_COOLDOWN_SECONDS_MAX,
    'the treasury has to keep more than it can hold':
      config.treasuryFloorCredits > CREDITS_MAX || config.earlierFloorCredits > CREDITS_MAX,
    'no dispute can be opened': config.openDisputesMax === 0,
    'the minimum stake is out of range': !isWithin(config.minimumStakeTokens, STAKE_TOKENS_MAX),
    'the most that a job may lock is out of range': !isWithin(config.jobCreditsMax, CREDITS_MAX),
    'the most that a wallet may hold is out of range': !isWithin(
      config.creditAccountCreditsMax,
      CREDITS_MAX,
    ),
    'the stake mint has too many decimals': config.stakeDecimals > STAKE_DECIMALS_MAX,
    'the timeout is not 120 s': config.jobTimeoutSeconds !== JOB_TIMEOUT_SECONDS,
    'the dispute window is not 60 s': config.disputeWindowSeconds !== DISPUTE_WINDOW_SECONDS,
    'the arbitration window is not 24 h':
      config.arbitrationWindowSeconds !== ARBITRATION_WINDOW_SECONDS,
    'a vault is not where its seeds put it':
      !config.vault.equals(addresses.vault) ||
      !config.treasuryVault.equals(addresses.treasuryVault) ||
      !config.stakeVault.equals(addresses.stakeVault),
  });
}

function isWithin(value: bigint, max: bigint): boolean {
  return value >= 1n && value <= max;
}
