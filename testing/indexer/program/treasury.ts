import { BASE_UNITS_PER_CREDIT } from '../../../programs/client/generated/constants.ts';
import type { CLAIMANT_KINDS } from '../../../programs/client/generated/vocabulary.ts';
import { addresses } from '../scene.ts';
import { AUTHORITY, type Instruction, type ProgramState } from './programState.ts';

type ClaimantKind = (typeof CLAIMANT_KINDS)[number];

/** The part of the event that is about the claimant; null where nothing is due to it. */
function payClaimant(
  { wallets, workers, treasury }: ProgramState,
  kind: ClaimantKind,
  name: string,
): {
  claimant: string;
  sequence: bigint;
  baseUnits: bigint;
  credits: bigint;
  available: bigint;
} | null {
  if (kind === 'worker') {
    const worker = workers.get(name);
    if (!worker || worker.claimableBaseUnits === 0n) return null;
    const baseUnits = worker.claimableBaseUnits;
    worker.claimableBaseUnits = 0n;
    worker.sequence += 1n;
    const { sequence } = worker;
    return { claimant: name, sequence, baseUnits, credits: 0n, available: 0n };
  }
  if (kind === 'treasury') {
    const baseUnits = treasury.unpaidBaseUnits;
    if (baseUnits === 0n) return null;
    treasury.unpaidBaseUnits = 0n;
    treasury.sequence += 1n;
    const { sequence } = treasury;
    const claimant = addresses.treasury.toBase58();
    return { claimant, sequence, baseUnits, credits: 0n, available: 0n };
  }
  const account = wallets.get(name);
  if (!account || account.owedCredits === 0n) return null;
  const credits = account.owedCredits;
  const baseUnits = credits * BASE_UNITS_PER_CREDIT;
  account.owedCredits = 0n;
  account.availableCredits += credits;
  account.sequence += 1n;
  treasury.owedBaseUnits -= baseUnits;
  treasury.sequence += 1n;
  const { creditAccount: claimant, sequence, availableCredits: available } = account;
  return { claimant, sequence, baseUnits, credits, available };
}

/** @param name of the wallet or the worker */
export const payClaim =
  (kind: ClaimantKind, name: string): Instruction =>
  (state, now) => {
    const paid = payClaimant(state, kind, name);
    if (!paid) return null;
    const { treasury } = state;
    return {
      name: 'ClaimPaid',
      data: {
        ...{ ...now, claimant: paid.claimant, claimantKind: kind },
        ...{ claimantSequence: `${paid.sequence}`, treasurySequence: `${treasury.sequence}` },
        ...{ baseUnits: `${paid.baseUnits}`, credits: `${paid.credits}`, remainingBaseUnits: '0' },
        owedBaseUnits: `${treasury.owedBaseUnits}`,
        unpaidBaseUnits: `${treasury.unpaidBaseUnits}`,
        availableCredits: `${paid.available}`,
      },
    };
  };

export const pause =
  (locksPaused: boolean): Instruction =>
  ({ config }, now) => {
    config.sequence += 1n;
    const configSequence = `${config.sequence}`;
    return {
      name: 'PauseSet',
      data: { ...now, configSequence, depositsPaused: false, locksPaused },
    };
  };

/** Changes no account that has a sequence. */
export const withdrawTreasury: Instruction = (_books, now) => ({
  name: 'TreasuryWithdrawn',
  data: {
    ...{ ...now, authority: AUTHORITY, destination: AUTHORITY },
    ...{ baseUnits: '1', treasuryVaultBaseUnits: '1' },
  },
});
