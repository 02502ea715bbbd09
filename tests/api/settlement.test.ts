import { setImmediate as turn } from 'node:timers/promises';
import { describe, expect, it, jest } from '@jest/globals';
import { Keypair, type TransactionInstruction } from '@solana/web3.js';
import type { LedgerContext } from '../../api/ledger/context.ts';
import type { LockedJob } from '../../api/ledger/job.ts';
import type { ProvenAnswer } from '../../api/ledger/proof.ts';
import { type Acknowledgements, settleOnLedger } from '../../api/ledger/settleOnLedger.ts';
import { createLogger } from '../../common/logger.ts';
import { systemTime } from '../../common/wait.ts';
import { createAddresses } from '../../programs/client/addresses.ts';
import { LedgerUnavailableError, WithdrawnError } from '../../programs/client/sender/sendResult.ts';

const logger = createLogger({ name: 'test', level: 'silent' });
const PROOF_DUE_SECONDS = 118n;
const address = () => Keypair.generate().publicKey;
const worker = { address: String(address()), payout: String(address()) };
const job = {
  ...{ id: 'job', address: address(), creditAccount: address() },
  deadlines: { proofDueAt: PROOF_DUE_SECONDS },
} as LockedJob;
const answer = {
  reservation: { worker: { ...worker, proof_key: String(address()) } },
  attempt: 1,
  proof: {
    ...{ outputHash: new Uint8Array(32), signature: new Uint8Array(64) },
    ...{ promptTokens: 1, completionTokens: 2, statement: new Uint8Array(32) },
  },
} as unknown as ProvenAnswer;

/** A settlement that has to wait, and what was sent of it. */
function createScene({
  isAway = () => false,
  kept,
}: {
  isAway?: () => boolean;
  kept?: Promise<void>;
} = {}) {
  const sent: (readonly TransactionInstruction[])[] = [];
  /** When it was tried, counted from the start. */
  const triedAtMs: number[] = [];
  const startMs = performance.now();
  let nowSeconds = 100n;
  const context = {
    addresses: createAddresses(),
    clock: { nowSeconds: () => nowSeconds },
    logger,
    gateway: address(),
    signer: Keypair.generate(),
    settlements: {
      async add({ instructions, isWanted }: Parameters<LedgerContext['settlements']['add']>[0]) {
        if (!isWanted?.()) throw new WithdrawnError('cancelled before it was sent');
        triedAtMs.push(performance.now() - startMs);
        if (isAway()) throw new LedgerUnavailableError('away', { signature: null });
        sent.push(instructions as TransactionInstruction[]);
        return { status: 'landed', signature: 'a settlement', slot: 1 };
      },
    },
    time: systemTime,
  } as unknown as LedgerContext;
  const withdrawn: LockedJob[] = [];
  const acknowledgements: Partial<Acknowledgements> = { withdraw: (of) => void withdrawn.push(of) };
  const keeping = Promise.withResolvers<void>();
  const settling = { job, answer, countedTokens: 2, kept: kept ?? keeping.promise };
  const end = settleOnLedger(context, acknowledgements as Acknowledgements, settling);
  const pass = (seconds: bigint): void => {
    nowSeconds = seconds;
  };
  return { end, sent, withdrawn, triedAtMs, keep: keeping.resolve, pass };
}

describe('a settlement', () => {
  it('is sent only after the answer is stored', async () => {
    const { end, sent, keep } = createScene();
    await turn();
    expect(sent).toEqual([]);

    keep();
    expect(await end).toEqual({ status: 'settled', signature: 'a settlement' });
    expect(sent).toHaveLength(1);
  });

  it('takes an acknowledgement back that was not sent yet: it contains it', async () => {
    const { end, sent, withdrawn, keep } = createScene();
    expect(withdrawn).toEqual([job]);
    keep();
    await end;
    expect(sent).toHaveLength(1);
    expect(sent[0]).toHaveLength(1);
  });

  it('is not sent when storing the answer took longer than its proof allows', async () => {
    const { end, sent, keep, pass } = createScene();
    await turn();
    pass(PROOF_DUE_SECONDS);
    keep();

    expect(await end).toEqual({ status: 'overdue' });
    expect(sent).toEqual([]);
  });

  it('is tried again after 0.5, 1, 2, 4 and then each 5 s without a ledger', async () => {
    jest.useFakeTimers({ doNotFake: ['setImmediate'] });
    let isAway = true;
    const { end, triedAtMs, keep } = createScene({ isAway: () => isAway });
    keep();
    await jest.advanceTimersByTimeAsync(13_000);
    isAway = false;
    await jest.advanceTimersByTimeAsync(5_000);
    expect(await end).toEqual({ status: 'settled', signature: 'a settlement' });
    expect(triedAtMs).toEqual([0, 500, 1_500, 3_500, 7_500, 12_500, 17_500]);
    jest.useRealTimers();
  });
});
