import { setImmediate as turn } from 'node:timers/promises';
import { describe, expect, it } from '@jest/globals';
import { Keypair, type TransactionInstruction } from '@solana/web3.js';
import type { Escrow, LockedJob, ProvenAnswer, WholeAnswer } from '../../api/jobs/job.ts';
import type { LedgerContext } from '../../api/ledger/context.ts';
import { type Acknowledgements, settleJob } from '../../api/ledger/settlement.ts';
import { createAddresses } from '../../programs/client/addresses.ts';
import { WithdrawnError } from '../../programs/client/sender/outcome.ts';

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
function createScene() {
  const sent: (readonly TransactionInstruction[])[] = [];
  let nowSeconds = 100n;
  const context = {
    addresses: createAddresses(),
    clock: { nowSeconds: () => nowSeconds },
    gateway: address(),
    signer: Keypair.generate(),
    sender: {
      async send({ instructions, isWanted }: Parameters<LedgerContext['sender']['send']>[0]) {
        if (!isWanted?.()) throw new WithdrawnError('nobody waits for it');
        sent.push(instructions as TransactionInstruction[]);
        return { status: 'confirmed', signature: 'a settlement', slot: 1 };
      },
    },
  } as unknown as LedgerContext;
  const acknowledgements = { collect: () => undefined } as unknown as Acknowledgements;
  const keeping = Promise.withResolvers<void>();
  const settling = { job, answer, countedTokens: 2, kept: keeping.promise };
  const end = settleJob(context, acknowledgements, settling);
  const pass = (seconds: bigint): void => {
    nowSeconds = seconds;
  };
  return { end, sent, keep: keeping.resolve, pass };
}

describe('a settlement', () => {
  it('accepts only an answer with a checked signature', () => {
    const whole = {} as WholeAnswer;
    const settle: Escrow['settle'] = async () => ({ status: 'overdue' });
    // @ts-expect-error: only the check of the signature makes a proven answer.
    expect(settle(job, whole, 2)).toBeInstanceOf(Promise);
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
});
