import anchor from '@coral-xyz/anchor';
import { Keypair } from '@solana/web3.js';
import {
  COMPLETED,
  type ForgeryCase,
  flip,
  flipByte,
  forgeArguments,
  forgeEvent,
  inTransactionOf,
  lie,
  outer,
  plus,
  plusOne,
  RETRIED,
  set,
  transfers,
} from './forge.ts';

const { BN } = anchor;

type Change = Parameters<typeof forgeEvent>[1];

/** A lie about one field of the event, whose transaction completed two jobs more. */
const inEvent = (what: string, change: Change, ...fails: string[]): ForgeryCase => ({
  what: `${what}, of a completed job`,
  job: 'completed',
  forgery: (jobs) => forgeEvent('JobCompleted', change, jobs.completed),
  fails,
});

const PROVEN = ['proof.signature', 'settlement.signer'];
const inAccount = 'account.state';

/** Lies about what was acknowledged, proven and settled at once. */
export const COMPLETION_FORGERIES: readonly ForgeryCase[] = [
  inEvent('the slot', plusOne('slot'), 'history.sequence'),
  inEvent(
    'when it was',
    plus(121, 'unix_time'),
    ...['deadline.acknowledged', 'deadline.proven', 'deadline.settled', inAccount],
  ),
  inEvent('the attempt', set('attempt', 2), ...PROVEN, inAccount),
  inEvent('an attempt of no number', set('attempt', 0), 'work.attempts', ...PROVEN, inAccount),
  {
    ...inEvent('the worker', set('worker', Keypair.generate().publicKey)),
    fails: ['proof.signature', inAccount],
    unchecked: ['proof.key', 'settlement.worker_payment'],
  },
  inEvent(
    'the key of the proof',
    set('proof_key', Keypair.generate().publicKey),
    ...['proof.signature', 'proof.key'],
  ),
  inEvent('the proven hash', flip('output_hash'), ...PROVEN, inAccount),
  inEvent('the prompt tokens', set('prompt_tokens', 11), ...PROVEN, inAccount),
  inEvent('the completion tokens', set('completion_tokens', 601), ...PROVEN, inAccount),
  inEvent('which request was answered', flip('request_commitment'), ...PROVEN),
  inEvent(
    'the counted tokens',
    set('counted_tokens', 400),
    ...['settlement.signer', 'settlement.charge', inAccount],
  ),
  inEvent(
    'who settled',
    set('settled_by', Keypair.generate().publicKey),
    ...['settlement.signer', inAccount],
  ),
  inEvent(
    'the charge',
    plusOne('charged_credits'),
    ...['settlement.charge', 'settlement.share', 'settlement.balances', inAccount],
  ),
  inEvent('what came back', plusOne('returned_credits'), 'settlement.charge'),
  inEvent(
    "the worker's share",
    plusOne('worker_base_units'),
    ...['settlement.share', 'settlement.worker_payment'],
  ),
  inEvent(
    "the treasury's share",
    plusOne('treasury_base_units'),
    ...['settlement.share', 'settlement.treasury_payment'],
  ),
  inEvent('that the worker was paid', set('worker_paid', false), 'settlement.worker_payment'),
  inEvent('that the treasury was paid', set('treasury_paid', false), 'settlement.treasury_payment'),
  inEvent('the credits available', plusOne('available_credits'), 'settlement.balances'),
  inEvent('the credits locked', plusOne('account_locked_credits'), 'settlement.balances'),
  inEvent("the day's sum", plusOne('spent_today_credits'), 'settlement.balances'),
  inEvent("a day's sum of nothing", set('spent_today_credits', new BN(0)), 'settlement.balances'),
  lie('an attempt that was not greater than the one before', 'retried', 'work.attempts', (jobs) =>
    forgeEvent('JobAcknowledged', set('attempt', 3), jobs.retried),
  ),
  {
    what: "a byte of the worker's signature, of one of several jobs",
    job: 'retried',
    forgery: () =>
      inTransactionOf('JobCompleted', (transaction) => {
        if (isAlone(transaction)) return;
        forgeArguments(transaction, RETRIED, flip('signature'));
      }),
    fails: ['history.signatures', 'proof.signature'],
  },
  {
    what: 'of which jobs the proofs of one transaction are',
    job: 'retried',
    forgery: () =>
      inTransactionOf('JobCompleted', (transaction) => {
        if (isAlone(transaction)) return;
        const [one, other] = [outer(transaction, COMPLETED), outer(transaction, RETRIED)];
        [one.data, other.data] = [other.data, one.data];
      }),
    fails: ['history.signatures', ...PROVEN],
  },
  {
    what: 'the instruction that completed the job',
    job: 'completed',
    forgery: () =>
      inTransactionOf('JobCompleted', (transaction) => {
        outer(transaction, COMPLETED).data = flipByte(outer(transaction, COMPLETED).data, 1);
      }),
    fails: ['history.signatures', ...PROVEN],
  },
  {
    what: 'the counted tokens that were signed',
    job: 'completed',
    forgery: () =>
      inTransactionOf('JobCompleted', (transaction) =>
        forgeArguments(transaction, COMPLETED, set('counted_tokens', 400)),
      ),
    fails: ['history.signatures', 'settlement.signer'],
  },
  {
    what: 'the payee of a transfer, of one of several jobs',
    job: 'retried',
    forgery: () =>
      inTransactionOf('JobCompleted', (transaction) => {
        if (isAlone(transaction)) return;
        transfers(transaction, RETRIED).toTreasury.accounts[1] = 0;
      }),
    fails: ['settlement.worker_payment', 'settlement.treasury_payment', 'settlement.tokens'],
  },
  {
    what: 'the amount of a transfer, of one of several jobs',
    job: 'retried',
    forgery: () =>
      inTransactionOf('JobCompleted', (transaction) => {
        if (isAlone(transaction)) return;
        const { toWorker } = transfers(transaction, RETRIED);
        toWorker.data = flipByte(toWorker.data, 1);
      }),
    fails: ['settlement.worker_payment', 'settlement.tokens'],
  },
];

/** Other jobs of the scene were completed each in a transaction of its own. */
function isAlone({ transaction }: Parameters<typeof outer>[0]): boolean {
  return transaction.message.instructions.length === 1;
}
