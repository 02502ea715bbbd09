import type { Rule } from '../rule.ts';

/** Prices, locks and charges. */
export const chargingRules: readonly Rule[] = [
  {
    id: 'charging.launch-prices',
    rule: 'A request costs 2, 8, 18 or 40 credits by tier; the launch catalog has eight models.',
    shown: [
      'client/pricing › let every launch model answer with 2,000 tokens for the price of a request',
      'stack/stack › describes itself for its owner only, hosts every launch model twice, and lets no other start',
    ],
  },
  {
    id: 'charging.threshold',
    rule: 'Up to 500 output tokens the price per request is charged, above it the rate per 1,000, rounded up.',
    shown: [
      'client/pricing › charge per request up to the threshold and per token, rounded up, beyond it',
      'programs/jobSettle › charges the lower of the proven and the counted tokens, and never above the lock',
    ],
  },
  {
    id: 'charging.lock-before-work',
    rule: 'Credits are locked before a worker is asked.',
    shown: [
      'journeys/ledgerOnly › locked before the work, proved this text, and paid to the base unit',
    ],
  },
  {
    id: 'charging.lock-amount',
    rule: 'Locked is the higher of the price per request and the charge for the token limit.',
    shown: [
      'client/pricing › lock at least the price of a request and more where the token limit costs more',
      'api/quote › for %i tokens locks %s credits',
      'programs/jobLock › locks for a limit of %i tokens %i credits',
    ],
  },
  {
    id: 'charging.default-limit',
    rule: 'Without a token limit a request locks what its tier says.',
    shown: [
      'api/quote › locks what the tier says when no limit is asked for, with the tokens that covers',
    ],
  },
  {
    id: 'charging.never-above-lock',
    rule: 'A charge never exceeds its lock, and the difference comes back with the settlement.',
    shown: [
      'client/pricing › never charge more than was locked',
      'programs/jobSettle › pays worker and treasury and returns the rest',
      'journeys/ledgerOnly › locked before the work, proved this text, and paid to the base unit',
    ],
  },
  {
    id: 'charging.deducted-at-settlement',
    rule: 'Credits are deducted, and the worker paid, when the proof is verified on the ledger.',
    shown: [
      'programs/jobSettle › pays worker and treasury and returns the rest',
      'programs/jobProve › refuses another key, and a message that is not exactly this proof',
    ],
  },
  {
    id: 'charging.shares',
    rule: 'Of a charge the treasury gets its share of 15 % and the worker the rest, to the base unit.',
    shown: [
      'journeys/ledgerOnly › locked before the work, proved this text, and paid to the base unit',
    ],
  },
  {
    id: 'charging.credit-value',
    rule: 'One credit is 0.01 stablecoin unit.',
    shown: [
      'programs/creditBuy › moves 10,000 base units a credit into the vault, whoever pays',
      'journeys/openaiClient › gets a plain completion that is settled and readable at once',
    ],
  },
  {
    id: 'charging.same-balance',
    rule: 'A key spends from the balance of the wallet that made it.',
    shown: ['journeys/openaiClient › gets a plain completion that is settled and readable at once'],
  },
  {
    id: 'charging.price-changes',
    rule: 'A price raised after the quote is refused by the ledger; jobs in flight keep their prices.',
    shown: [
      'programs/jobLock › refuses a price that was raised after it was quoted',
      'programs/modelUpsert › changes a model, whose jobs in flight keep their prices',
    ],
  },
  {
    id: 'charging.quoted-once-more',
    rule: 'After a changed price the API quotes once more, then answers 503.',
    shown: [
      'journeys/whoPaysLock › is quoted once more, and the new price is charged',
      'journeys/whoPaysLock › is a 503 that costs nothing when it is raised twice',
    ],
  },
  {
    id: 'charging.lower-count',
    rule: 'A worker that proves more tokens than are counted is paid for the lower count.',
    shown: [
      'journeys/failures › is charged for the lower count when its worker claims more tokens',
    ],
  },
  {
    id: 'charging.concurrent',
    rule: 'Concurrent requests of one wallet never overdraw it, and every credit is accounted for.',
    shown: [
      'journeys/load › of one wallet are all settled, conserve every credit, and stand in the mirror',
      'programs/jobLock › refuses a lock that the available credits do not cover',
    ],
  },
  {
    id: 'charging.no-withdrawal-by-key',
    rule: 'A key can only spend: withdrawing and changing settings need the wallet.',
    shown: [
      'programs/creditWithdraw › is the wallet’s alone',
      'programs/spenderSet › refuses everybody but the wallet',
      'programs/limitSet › refuses everybody but the wallet',
    ],
  },
];
