import { randomUUID } from 'node:crypto';
import type { LedgerEvent } from '../../indexer/fold/event.ts';
import { WALLET } from './webhookScene.ts';

const place = (slot: bigint) => ({
  slot,
  signature: randomUUID(),
  instructionIndex: 0,
  innerIndex: 1,
});

const account = (slot: bigint, wallet: string) => ({
  slot: slot.toString(),
  unixTime: '1790000000',
  creditAccount: `account of ${wallet}`,
  creditSequence: '2',
  wallet,
});

/** The event of a purchase, after which the wallet has this many credits. */
export function bought(options: {
  credits: number;
  available: number;
  locked?: number;
  wallet?: string;
  slot?: bigint;
}): LedgerEvent {
  const { credits, available, locked = 0, wallet = WALLET, slot = 10n } = options;
  return {
    ...place(slot),
    name: 'CreditBought',
    data: {
      ...account(slot, wallet),
      buyer: wallet,
      credits: `${credits}`,
      availableCredits: `${available}`,
      lockedCredits: `${locked}`,
    },
  };
}

/** The event of a withdrawal, after which the wallet has this many credits. */
export function withdrawn(options: {
  credits: number;
  available: number;
  locked?: number;
  wallet?: string;
  slot?: bigint;
}): LedgerEvent {
  const { credits, available, locked = 0, wallet = WALLET, slot = 10n } = options;
  return {
    ...place(slot),
    name: 'CreditWithdrawn',
    data: {
      ...account(slot, wallet),
      destination: wallet,
      credits: `${credits}`,
      availableCredits: `${available}`,
      lockedCredits: `${locked}`,
    },
  };
}
