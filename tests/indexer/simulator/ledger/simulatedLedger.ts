import type { LedgerEventData } from '../../../../indexer/fold/event.ts';
import {
  emptyState,
  type Instruction,
  opening,
  type ProgramState,
} from '../../../../testing/indexer/program/programState.ts';
import type { Chance } from '../chance.ts';
import { accountsOf, type Landed } from './landed.ts';

/** A ledger whose newest slots may be replaced by others, until they are final. */
export interface SimulatedLedger {
  readonly slot: bigint;
  readonly finalizedSlot: bigint;
  readonly state: ProgramState;
  /** Oldest first. */
  readonly transactions: readonly Landed[];
  find(signature: string): Landed | undefined;
  advance(slots: number): void;
  /** A new transaction in the newest slot. */
  land(instructions: readonly Instruction[]): Landed;
  /** Makes final all but so many of the newest slots. */
  finalize(unfinalSlots: number): void;
  /**
   * Another fork wins. Of the transactions that were only in the abandoned one, some land in the
   * other one at once, some later, and some never.
   */
  fork(): void;
}

/** A blockhash lives for 150; this leaves a margin. */
const LANDING_SLOTS_MAX = 100n;
/** Of the transactions that may land in a slot and have not yet. */
const RELANDING_PER_MILLE = 300;
const OPENING_SLOT = 1n;
const GENESIS_SECONDS = 1_700_000_000n;

export function createSimulatedLedger(chance: Chance): SimulatedLedger {
  let slot = OPENING_SLOT;
  let finalizedSlot = 0n;
  let state = emptyState();
  let transactions: Landed[] = [];
  let made = 0;
  /** The state at the end of slots, newest last. */
  let snapshots = [{ slot: 0n, state: emptyState() }];
  let waiting: Landed[] = [];
  /** One block is made for a slot at most: where an abandoned fork has one, others have none. */
  const producedSlots = new Set<bigint>();

  function execute(
    at: bigint,
    sent: Pick<Landed, 'signature' | 'madeAtSlot' | 'instructions'>,
  ): Landed {
    const now = { slot: `${at}`, unixTime: `${GENESIS_SECONDS + at}` };
    const changed = structuredClone(state);
    const events = sent.instructions.map((instruction) => instruction(changed, now));
    const failed = events.includes(null);
    if (!failed) state = changed;
    const emitted = failed ? [] : (events as LedgerEventData[]);
    const accounts = accountsOf(emitted);
    const landed = { ...sent, slot: at, failed, events: emitted, accounts };
    transactions.push(landed);
    snapshots = snapshots.filter((snapshot) => snapshot.slot !== at);
    snapshots.push({ slot: at, state });
    producedSlots.add(at);
    return landed;
  }

  function land(instructions: readonly Instruction[]): Landed {
    made += 1;
    return execute(slot, { signature: `transaction ${made}`, madeAtSlot: slot, instructions });
  }

  land(opening);
  return {
    get slot() {
      return slot;
    },
    get finalizedSlot() {
      return finalizedSlot;
    },
    get state() {
      return state;
    },
    get transactions() {
      return transactions;
    },
    find: (signature) => transactions.find((landed) => landed.signature === signature),
    advance(slots) {
      slot += BigInt(slots);
      const alive = waiting.filter(({ madeAtSlot }) => slot - madeAtSlot < LANDING_SLOTS_MAX);
      const landing = alive.filter(() => chance.happens(RELANDING_PER_MILLE));
      waiting = alive.filter((sent) => !landing.includes(sent));
      for (const sent of landing) execute(slot, sent);
    },
    land,
    finalize(unfinalSlots) {
      const final = slot - BigInt(unfinalSlots);
      if (final > finalizedSlot) finalizedSlot = final;
      const last = snapshots.findLast((snapshot) => snapshot.slot <= finalizedSlot);
      snapshots = snapshots.filter((snapshot) => snapshot.slot >= (last?.slot ?? 0n));
    },
    fork() {
      const root = slot - 1n - BigInt(chance.below(Number(slot - finalizedSlot)));
      if (root < finalizedSlot || root < OPENING_SLOT) return;
      snapshots = snapshots.filter((snapshot) => snapshot.slot <= root);
      state = snapshots.at(-1)?.state ?? emptyState();
      let pending = transactions.filter((landed) => landed.slot > root);
      transactions = transactions.filter((landed) => landed.slot <= root);
      for (let at = root + 1n; at <= slot; at += 1n) {
        if (producedSlots.has(at)) continue;
        const landing = pending.filter(
          ({ madeAtSlot }) => madeAtSlot <= at && chance.happens(RELANDING_PER_MILLE),
        );
        pending = pending.filter((sent) => !landing.includes(sent));
        for (const sent of chance.shuffle(landing)) execute(at, sent);
      }
      waiting.push(...pending.filter(() => chance.happens(500)));
    },
  };
}
