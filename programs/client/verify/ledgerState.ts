import { PublicKey } from '#platform';
import { type DecodedAccount, unixSecondsOf } from '../accounts.ts';
import { BASE_UNITS_PER_CREDIT } from '../generated/constants.ts';
import type { LedgerConnection } from '../ledgerConnection.ts';

/** The account of the ledger's time, on every ledger. */
export const CLOCK = new PublicKey('SysvarC1ock11111111111111111111111111111111');

/** What the service itself acts on. */
export const COMMITMENT = 'confirmed';

/** The ledger's Clock, in Unix seconds. */
export async function readClock(connection: LedgerConnection): Promise<bigint> {
  const clock = await connection.getAccountInfo(CLOCK, COMMITMENT);
  return unixTimeOf(clock);
}

/** @param clock the account of the ledger's Clock */
export function unixTimeOf(clock: { readonly data: Uint8Array } | null | undefined): bigint {
  if (!clock) throw new Error('it shows no Clock');
  return unixSecondsOf(clock);
}

/** What a vault holds against what the accounts say that it must hold. */
export interface Conservation {
  readonly vault: 'vault' | 'stake_vault';
  readonly heldBaseUnits: bigint;
  /** Less than this in the vault means that somebody cannot be paid; more was sent unasked. */
  readonly dueBaseUnits: bigint;
}

/**
 * Whether credits may have been bought since a moment of the ledger's time. Between two readings that
 * find a vault unchanged, a purchase and a withdrawal may have cancelled out. Accounts that were read
 * in between then promise more than the vault held. Anybody can arrange that.
 */
export function isBoughtSince(accounts: Iterable<DecodedAccount>, unixTime: bigint): boolean {
  for (const { name, data } of accounts) {
    if (name === 'CreditAccount' && data.lastTopupAt >= unixTime) return true;
  }
  return false;
}

/**
 * Adds up what every account has a claim to.
 *
 * @param state all accounts of the program and what its vaults held at the same time
 */
export function computeConservation(state: {
  readonly accounts: ReadonlyMap<string, DecodedAccount>;
  readonly vaultBaseUnits: bigint;
  readonly stakeVaultBaseUnits: bigint;
}): Conservation[] {
  let credits = 0n;
  let claims = 0n;
  let stakeTokens = 0n;
  let stakeDecimals = 0n;
  for (const { name, data } of state.accounts.values()) {
    if (name === 'CreditAccount') credits += data.availableCredits + data.lockedCredits;
    if (name === 'Worker') claims += data.claimableBaseUnits;
    if (name === 'Worker') stakeTokens += data.stakeTokens + data.unstakingTokens;
    if (name === 'Treasury') claims += data.unpaidBaseUnits;
    if (name === 'Treasury') stakeTokens += data.slashedStakeTokens;
    if (name === 'Config') stakeDecimals = BigInt(data.stakeDecimals);
  }
  return [
    {
      vault: 'vault',
      heldBaseUnits: state.vaultBaseUnits,
      dueBaseUnits: credits * BASE_UNITS_PER_CREDIT + claims,
    },
    {
      vault: 'stake_vault',
      heldBaseUnits: state.stakeVaultBaseUnits,
      dueBaseUnits: stakeTokens * 10n ** stakeDecimals,
    },
  ];
}
