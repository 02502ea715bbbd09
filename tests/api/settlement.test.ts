import { setImmediate as turn } from 'node:timers/promises';
import { describe, expect, it, jest } from '@jest/globals';
import { Keypair, type TransactionInstruction } from '@solana/web3.js';
import type {
  Escrow,
  Lease,
  LockedJob,
  ProvenAnswer,
  SettlementHold,
  WholeAnswer,
} from '../../api/jobs/job.ts';
import type { LedgerContext } from '../../api/ledger/context.ts';
import { type Acknowledgements, settleJob } from '../../api/ledger/settlement.ts';
import { createLogger } from '../../common/logger.ts';
import { delay, systemTime } from '../../common/wait.ts';
import { createAddresses } from '../../programs/client/addresses.ts';
import { LedgerUnavailableError, WithdrawnError } from '../../programs/client/sender/outcome.ts';

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
    ...{ promptTokens: 1, completionTokens: 2 },
  },
} as unknown as ProvenAnswer;

/** A settlement that has to wait, and what was sent of it. */
function createScene(
  state: () => ReturnType<Lease['state']> = () => 'held',
  isAway: () => boolean = () => false,
) {
  const sent: (readonly TransactionInstruction[])[] = [];
  const exits: unknown[] = [];
  /** When it was tried, counted from the start. */
  const triedAtMs: number[] = [];
  const startMs = performance.now();
  let nowSeconds = 100n;
  const context = {
    addresses: createAddresses(),
    exits: {
      async add(exit: unknown) {
        exits.push(exit);
        return { status: 'confirmed', signature: 'an exit', slot: 1 };
      },
    },
    clock: { nowSeconds: () => nowSeconds },
    logger: createLogger({ name: 'test', level: 'silent' }),
    gateway: address(),
    signer: Keypair.generate(),
    sender: {
      async send({ instructions, isWanted }: Parameters<LedgerContext['sender']['send']>[0]) {
        if (!isWanted?.()) throw new WithdrawnError('nobody waits for it');
        triedAtMs.push(performance.now() - startMs);
        if (isAway()) throw new LedgerUnavailableError('away', { signature: null });
        sent.push(instructions as TransactionInstruction[]);
        return { status: 'confirmed', signature: 'a settlement', slot: 1 };
      },
    },
    time: systemTime,
  } as unknown as LedgerContext;
  const acknowledgements = { collect: () => undefined } as unknown as Acknowledgements;
  const keeping = Promise.withResolvers<void>();
  const settling = { job, answer, countedTokens: 2, kept: keeping.promise, lease: { state } };
  const end = settleJob(context, acknowledgements, settling);
  const pass = (seconds: bigint): void => {
    nowSeconds = seconds;
  };
  return { end, sent, exits, triedAtMs, keep: keeping.resolve, pass };
}

describe('a settlement', () => {
  it('accepts only an answer with a checked signature', () => {
    const whole = {} as WholeAnswer;
    const settle: Escrow['settle'] = async () => ({ status: 'overdue' });
    // @ts-expect-error: only the check of the signature makes a proven answer.
    expect(settle(job, whole, 2, {} as SettlementHold)).toBeInstanceOf(Promise);
  });

  it('is sent only after the answer is stored', async () => {
    const { end, sent, keep } = createScene();
    await turn();
    expect(sent).toEqual([]);

    keep();
    expect(await end).toEqual({ status: 'settled', signature: 'a settlement' });
    expect(sent).toHaveLength(1);
  });

  it('is not sent when storing the answer took longer than its proof allows', async () => {
    const { end, sent, keep, pass } = createScene();
    await turn();
    pass(PROOF_DUE_SECONDS);
    keep();

    expect(await end).toEqual({ status: 'overdue' });
    expect(sent).toEqual([]);
  });

  it('is not sent while its lease has lapsed, and is sent once it is renewed', async () => {
    let state: ReturnType<Lease['state']> = 'lapsed';
    const { end, sent, keep } = createScene(() => state);
    keep();
    await delay(600);
    expect(sent).toEqual([]);
    state = 'held';
    expect(await end).toEqual({ status: 'settled', signature: 'a settlement' });
  });

  it('is not sent when its lease lapses while it waits for its turn', async () => {
    const states = ['held', 'lapsed', 'lapsed'] as const;
    let asked = 0;
    const { end, sent, keep, pass } = createScene(() => states[asked++] ?? 'lapsed');
    keep();
    await delay(50);
    pass(PROOF_DUE_SECONDS);
    expect(await end).toEqual({ status: 'overdue' });
    expect(sent).toEqual([]);
  });

  it('is tried again after 0.5, 1, 2, 4 and then each 5 s while the ledger is away', async () => {
    jest.useFakeTimers({ doNotFake: ['setImmediate'] });
    let isAway = true;
    const { end, triedAtMs, keep } = createScene(
      () => 'held',
      () => isAway,
    );
    keep();
    await jest.advanceTimersByTimeAsync(13_000);
    isAway = false;
    await jest.advanceTimersByTimeAsync(5_000);
    expect(await end).toEqual({ status: 'settled', signature: 'a settlement' });
    expect(triedAtMs).toEqual([0, 500, 1_500, 3_500, 7_500, 12_500, 17_500]);
    jest.useRealTimers();
  });

  it('becomes a failure once a repeat has its lease', async () => {
    const { end, sent, exits, keep } = createScene(() => 'lost');
    keep();
    expect(await end).toEqual({ status: 'failed', signature: 'an exit' });
    expect(sent).toEqual([]);
    expect(exits).toHaveLength(1);
  });
});
