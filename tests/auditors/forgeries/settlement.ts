import anchor from '@coral-xyz/anchor';
import { Keypair } from '@solana/web3.js';
import {
  type ForgeryCase,
  flipByte,
  forgeEvent,
  inTransactionOf,
  lie,
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
  lie('what came back', 'settled', 'settlement.charge', () =>
    forgeEvent('JobSettled', plusOne('returned_credits')),
  ),
  lie('the counted tokens', 'settled', 'settlement.signer settlement.charge account.state', () =>
    forgeEvent('JobSettled', set('counted_tokens', 400)),
  ),
  lie("the worker's share", 'settled', 'settlement.share settlement.worker_payment', () =>
    forgeEvent('JobSettled', plusOne('worker_base_units')),
  ),
  lie("the treasury's share", 'settled', 'settlement.share settlement.treasury_payment', () =>
    forgeEvent('JobSettled', plusOne('treasury_base_units')),
  ),
  lie('that the worker was paid', 'settled', 'settlement.worker_payment', () =>
    forgeEvent('JobSettled', set('worker_paid', false)),
  ),
  lie('that the treasury was paid', 'settled', 'settlement.treasury_payment', () =>
    forgeEvent('JobSettled', set('treasury_paid', false)),
  ),
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
  lie('who settled', 'settled', 'settlement.signer account.state', () =>
    forgeEvent('JobSettled', set('settled_by', Keypair.generate().publicKey)),
  ),
  lie('the credits available after the settlement', 'settled', 'settlement.balances', (jobs) =>
    forgeEvent('JobSettled', plusOne('available_credits'), jobs.settled),
  ),
  lie('the credits available before the settlement', 'settled', 'settlement.balances', (jobs) =>
    forgeEvent('JobSettled', plusOne('available_credits'), jobs.reassigned),
  ),
  lie("the day's sum after the settlement", 'settled', 'settlement.balances', (jobs) =>
    forgeEvent('JobSettled', plusOne('spent_today_credits'), jobs.settled),
  ),
  lie("the day's sum before the settlement", 'settled', 'settlement.balances', (jobs) =>
    forgeEvent('JobSettled', plusOne('spent_today_credits'), jobs.reassigned),
  ),
  lie('a token balance', 'settled', 'settlement.tokens', () =>
    inTransactionOf('JobSettled', ({ meta }) => {
      const [held] = meta.postTokenBalances;
      if (held) held.uiTokenAmount.amount += '0';
    }),
  ),
  lie('the amount of a transfer', 'settled', 'settlement.worker_payment settlement.tokens', () =>
    inTransactionOf('JobSettled', (transaction) => {
      const { toWorker } = transfers(transaction);
      toWorker.data = flipByte(toWorker.data, 1);
    }),
  ),
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
  lie('when the job was settled', 'settled', 'deadline.settled account.state', () =>
    forgeEvent('JobSettled', plus(121, 'unix_time')),
  ),
  {
    what: "the worker's payout account on record",
    job: 'settled',
    forgery: () => forgeEvent('WorkerRegistered', set('payout', Keypair.generate().publicKey)),
    fails: [],
    // The Worker account still has the account that was paid.
    unchecked: ['settlement.worker_payment'],
  },
];
