import type { PublicKey } from '@solana/web3.js';
import type { PlacedEvent } from './evidence.ts';

/** What a wallet's credit account held at some point of its history. */
export interface Balances {
  readonly availableCredits: bigint;
  readonly lockedCredits: bigint;
}

/** The credit account's sequence after an event; undefined when the event is not about it. */
export function creditSequence(
  { data }: PlacedEvent,
  creditAccount: PublicKey,
): bigint | undefined {
  if ('creditAccount' in data && data.creditAccount.equals(creditAccount)) {
    return data.creditSequence;
  }
  return 'claimant' in data && data.claimant.equals(creditAccount)
    ? data.claimantSequence
    : undefined;
}

/**
 * The balances with which a credit account went into the change that made its sequence `sequence`:
 * not every event tells them, so the history is walked back, without a gap, until both are known.
 *
 * @returns undefined when the events do not reach back far enough
 */
export function balancesBefore(
  events: readonly PlacedEvent[],
  creditAccount: PublicKey,
  sequence: bigint,
): Balances | undefined {
  const bySequence = new Map(
    events.map((event) => [creditSequence(event, creditAccount), event] as const),
  );
  let known: Partial<Balances> = {};
  for (let at = sequence - 1n; at > 0n; at -= 1n) {
    const event = bySequence.get(at);
    if (event === undefined) return undefined;
    known = { ...told(event), ...known };
    const { availableCredits, lockedCredits } = known;
    if (availableCredits !== undefined && lockedCredits !== undefined) {
      return { availableCredits, lockedCredits };
    }
  }
  return undefined;
}

function told({ name, data }: PlacedEvent): Partial<Balances> {
  if (name === 'CreditOpened') return { availableCredits: 0n, lockedCredits: 0n };
  if (name === 'ClaimPaid') return { availableCredits: data.availableCredits };
  if ('accountLockedCredits' in data) {
    return { availableCredits: data.availableCredits, lockedCredits: data.accountLockedCredits };
  }
  if ('availableCredits' in data) {
    return { availableCredits: data.availableCredits, lockedCredits: data.lockedCredits };
  }
  return {};
}
