import type { Rule } from '../rule.ts';

/** Requests that are sent again. */
export const idempotencyRules: readonly Rule[] = [
  {
    id: 'idempotency.replay',
    rule: 'The same Idempotency-Key and body get the same answer again for ten minutes, uncharged and marked.',
    shown: [
      'journeys/idempotency › is given again, not charged again, under the same Idempotency-Key',
      'api/idempotency › is refused when its answer is ten minutes old',
    ],
  },
  {
    id: 'idempotency.in-use',
    rule: 'While the first is being answered, its repeat is a 409 with Retry-After.',
    shown: ['journeys/idempotency › is refused while the same request is still being answered'],
  },
  {
    id: 'idempotency.mismatch',
    rule: 'Another body under the same key is a 422.',
    shown: ['api/idempotency › is refused with another body'],
  },
  {
    id: 'idempotency.failed-runs-again',
    rule: 'A request that ended without a charge, or that nothing was locked for, runs again.',
    shown: [
      'journeys/idempotency › runs again when the first one failed',
      'journeys/idempotency › runs under its Idempotency-Key as soon as there are credits',
    ],
  },
  {
    id: 'idempotency.silent-retries',
    rule: 'A silent retry of an official client is never charged twice.',
    shown: [
      'journeys/idempotency › is charged once when the official client retries it silently after a lost answer',
      'journeys/idempotency › never charges for an answer that nobody got',
    ],
  },
  {
    id: 'idempotency.key-form',
    rule: 'A key has 1 to 255 visible characters and is kept for 24 hours, per wallet.',
    shown: [
      'api/idempotency › is refused when it is not 1 to 255 visible characters',
      'api/idempotency › is kept for 24 hours',
    ],
  },
  {
    id: 'idempotency.kept-sealed',
    rule: 'What is kept tells neither key, body nor answer.',
    shown: ['api/idempotency › tells neither its key, nor its body, nor its answer'],
  },
];
