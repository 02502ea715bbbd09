import anchor from '@coral-xyz/anchor';
import { Keypair } from '@solana/web3.js';
import {
  type ForgeryCase,
  flipByte,
  forgeEvent,
  inTransactionOf,
  plus,
  plusOne,
  set,
  transfers,
} from './forge.ts';

const { BN } = anchor;

/** Lies about what was charged, who was paid, and what came back. */
export const SETTLEMENT_FORGERIES: readonly ForgeryCase[] = [
  {
    what: 'the charge',
    job: 'settled',
    forgery: () => forgeEvent('JobSettled', plusOne('charged_credits')),
    fails: ['settlement.charge', 'settlement.share', 'settlement.balances', 'account.state'],
  },
  {
    what: 'what came back',
    job: 'settled',
    forgery: () => forgeEvent('JobSettled', plusOne('returned_credits')),
    fails: ['settlement.charge'],
  },
  {
    what: 'the counted tokens',
    job: 'settled',
    forgery: () => forgeEvent('JobSettled', set('counted_tokens', 400)),
    fails: ['settlement.signer', 'settlement.charge', 'account.state'],
  },
  {
    what: "the worker's share",
    job: 'settled',
    forgery: () => forgeEvent('JobSettled', plusOne('worker_base_units')),
    fails: ['settlement.share', 'settlement.worker_payment'],
  },
  {
    what: "the treasury's share",
    job: 'settled',
    forgery: () => forgeEvent('JobSettled', plusOne('treasury_base_units')),
    fails: ['settlement.share', 'settlement.treasury_payment'],
  },
  {
    what: 'that the worker was paid',
    job: 'settled',
    forgery: () => forgeEvent('JobSettled', set('worker_paid', false)),
    fails: ['settlement.worker_payment'],
  },
  {
    what: 'that the treasury was paid',
    job: 'settled',
    forgery: () => forgeEvent('JobSettled', set('treasury_paid', false)),
    fails: ['settlement.treasury_payment'],
  },
  {
    what: 'what the worker can claim instead of being paid',
    job: 'claimable',
    forgery: () => forgeEvent('JobSettled', set('worker_claimable_base_units', new BN(25_499))),
    fails: ['settlement.worker_payment'],
  },
  {
    what: 'that the worker was paid what it can only claim',
    job: 'claimable',
    forgery: () => forgeEvent('JobSettled', set('worker_paid', true)),
    fails: ['settlement.worker_payment'],
  },
  {
    what: 'who settled',
    job: 'settled',
    forgery: () => forgeEvent('JobSettled', set('settled_by', Keypair.generate().publicKey)),
    fails: ['settlement.signer', 'account.state'],
  },
  {
    what: 'the credits available after the settlement',
    job: 'settled',
    forgery: (jobs) => forgeEvent('JobSettled', plusOne('available_credits'), jobs.settled),
    fails: ['settlement.balances'],
  },
  {
    what: 'the credits available before the settlement',
    job: 'settled',
    forgery: (jobs) => forgeEvent('JobSettled', plusOne('available_credits'), jobs.reassigned),
    fails: ['settlement.balances'],
  },
  {
    what: "the day's sum after the settlement",
    job: 'settled',
    forgery: (jobs) => forgeEvent('JobSettled', plusOne('spent_today_credits'), jobs.settled),
    fails: ['settlement.balances'],
  },
  {
    what: "the day's sum before the settlement",
    job: 'settled',
    forgery: (jobs) => forgeEvent('JobSettled', plusOne('spent_today_credits'), jobs.reassigned),
    fails: ['settlement.balances'],
  },
  {
    what: 'a token balance',
    job: 'settled',
    forgery: () =>
      inTransactionOf('JobSettled', ({ meta }) => {
        const [held] = meta.postTokenBalances;
        if (held) held.uiTokenAmount.amount += '0';
      }),
    fails: ['settlement.tokens'],
  },
  {
    what: 'the amount of a transfer',
    job: 'settled',
    forgery: () =>
      inTransactionOf('JobSettled', (transaction) => {
        const { toWorker } = transfers(transaction);
        toWorker.data = flipByte(toWorker.data, 1);
      }),
    fails: ['settlement.worker_payment', 'settlement.tokens'],
  },
  {
    what: 'the payee of a transfer',
    job: 'settled',
    forgery: () =>
      inTransactionOf('JobSettled', (transaction) => {
        const { toTreasury } = transfers(transaction);
        toTreasury.accounts[1] = 0;
      }),
    fails: ['settlement.worker_payment', 'settlement.treasury_payment', 'settlement.tokens'],
  },
  {
    what: 'the program that moved tokens',
    job: 'settled',
    forgery: () =>
      inTransactionOf('JobSettled', (transaction) => {
        const { toWorker } = transfers(transaction);
        toWorker.programIdIndex = 0;
      }),
    fails: ['settlement.worker_payment', 'settlement.tokens'],
  },
  {
    what: 'when the job was settled',
    job: 'settled',
    forgery: () => forgeEvent('JobSettled', plus(121, 'unix_time')),
    fails: ['deadline.settled', 'account.state'],
  },
  {
    what: "the worker's payout account on record",
    job: 'settled',
    forgery: () => forgeEvent('WorkerRegistered', set('payout', Keypair.generate().publicKey)),
    fails: [],
    // The Worker account still has the account that was paid.
    unchecked: ['settlement.worker_payment'],
  },
];
