import { PublicKey } from '@solana/web3.js';
import type { Addresses } from '../../../addresses.ts';
import type { Config } from '../../../types.ts';
import { notCheckable } from '../../check.ts';
import { judgeProblems, namesOfTrue, programRule } from '../rule.ts';
import { accountsNamed } from '../state.ts';

const BASIS_POINTS = 10_000;
const STAKE_DECIMALS_MAX = 9;
/** Stake outlasts every deadline of the jobs that it vouches for by this much. */
const UNSTAKE_MARGIN_SECONDS = 3_600;
const JOB_TIMEOUT_SECONDS = 120;
const DISPUTE_WINDOW_SECONDS = 60;
const ARBITRATION_WINDOW_SECONDS = 86_400;
const UNSTAKE_COOLDOWN_SECONDS_MAX = 365 * 86_400;
const STAKE_TOKENS_MAX = 10_000_000_000n;
const CREDITS_MAX = 10_000_000_000_000n;

/** The configuration says nothing that the program would refuse to be told. */
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
  const windows =
    config.jobTimeoutSeconds + config.disputeWindowSeconds + config.arbitrationWindowSeconds;
  return namesOfTrue({
    'there is no authority': config.authority.equals(PublicKey.default),
    'there is no arbiter': config.arbiter.equals(PublicKey.default),
    'authority and arbiter are the same': config.authority.equals(config.arbiter),
    'the slash exceeds the minimum stake': BigInt(config.slashTokens) > config.minimumStakeTokens,
    'the treasury takes more than all': config.treasuryShareBasisPoints > BASIS_POINTS,
    'unstaking ends before verdicts do':
      config.unstakeCooldownSeconds < windows + UNSTAKE_MARGIN_SECONDS,
    'stake is held back for more than a year':
      config.unstakeCooldownSeconds > UNSTAKE_COOLDOWN_SECONDS_MAX,
    'nobody can dispute': config.openDisputesMax === 0,
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
