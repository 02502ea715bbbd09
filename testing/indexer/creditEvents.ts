import { randomUUID } from 'node:crypto';
import type { LedgerEvent } from '../../indexer/fold/event.ts';
import { WALLET } from './webhookScene.ts';

interface Move {
  credits: number;
  available: number;
  locked?: number;
  wallet?: string;
  slot?: bigint;
}

/** What both moves of credits say: where, when, of which account, and what it has afterwards. */
const moved = ({ credits, available, locked = 0, wallet = WALLET, slot = 10n }: Move) => ({
  ...{ slot, signature: randomUUID(), instructionIndex: 0, innerIndex: 1 },
  data: {
    ...{ slot: slot.toString(), unixTime: '1790000000', wallet },
    ...{ creditAccount: `account of ${wallet}`, creditSequence: '2', credits: `${credits}` },
    ...{ availableCredits: `${available}`, lockedCredits: `${locked}` },
  },
});

/** The event of a purchase, after which the wallet has this many credits. */
export function bought(move: Move): LedgerEvent {
  const { data, ...place } = moved(move);
  return { ...place, name: 'CreditBought', data: { ...data, buyer: data.wallet } };
}

/** The event of a withdrawal, after which the wallet has this many credits. */
export function withdrawn(move: Move): LedgerEvent {
  const { data, ...place } = moved(move);
  return { ...place, name: 'CreditWithdrawn', data: { ...data, destination: data.wallet } };
}
