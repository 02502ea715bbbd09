import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { Keypair } from '@solana/web3.js';
import type { LedgerContext } from '../../api/ledger/context.ts';
import { createDisputeOnLedger } from '../../api/ledger/disputeOnLedger.ts';
import { systemTime } from '../../common/wait.ts';
import { createAddresses } from '../../programs/client/addresses.ts';

const address = () => Keypair.generate().publicKey.toBase58();
const SETTLEMENT_SLOT = 9n;

beforeEach(() => void jest.useFakeTimers());
afterEach(() => void jest.useRealTimers());

/** Opens a dispute through a node that last saw this slot. @returns how it ended, and its tries */
async function openAt(slot: bigint) {
  const add = jest.fn(async () => ({
    status: 'failed',
    slot,
    error: { name: 'WrongJobStatus', code: 6_000, instructionIndex: 0 },
  }));
  const dispute = createDisputeOnLedger({
    addresses: createAddresses(),
    gateway: Keypair.generate().publicKey,
    signer: Keypair.generate(),
    exits: { add },
    time: systemTime,
  } as unknown as LedgerContext);
  const job = { address: address(), wallet: address(), settlement_slot: SETTLEMENT_SLOT };
  const opening = dispute
    .open(job as unknown as Parameters<typeof dispute.open>[0], '00'.repeat(32))
    .catch((error: { code: string }) => error.code);
  await jest.advanceTimersByTimeAsync(60_000);
  return { end: await opening, tries: add.mock.calls.length };
}

describe('a dispute through a node that has not seen the settlement', () => {
  it('is tried five times, and then the client is asked to come back', async () => {
    expect(await openAt(SETTLEMENT_SLOT - 1n)).toEqual({ end: 'service_unavailable', tries: 5 });
  });

  it('is refused at once where the node has seen it', async () => {
    expect(await openAt(SETTLEMENT_SLOT)).toEqual({ end: { status: 'already open' }, tries: 1 });
  });
});
