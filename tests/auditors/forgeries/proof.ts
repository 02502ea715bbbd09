import { Keypair } from '@solana/web3.js';
import {
  type ForgeryCase,
  flip,
  flipByte,
  forgeArguments,
  forgeEvent,
  inTransactionOf,
  lie,
  outer,
  PROVE,
  plus,
  set,
} from './forge.ts';

/** Lies about who did the work, when, and what they proved. */
export const PROOF_FORGERIES: readonly ForgeryCase[] = [
  lie("a byte of the worker's signature", 'settled', 'history.signatures proof.signature', () =>
    inTransactionOf('JobProven', (transaction) =>
      forgeArguments(transaction, PROVE, flip('signature')),
    ),
  ),
  lie('the key of the proof', 'settled', 'proof.signature proof.key', () =>
    forgeEvent('JobProven', set('proof_key', Keypair.generate().publicKey)),
  ),
  {
    what: 'the instruction that brought the proof',
    job: 'settled',
    forgery: () =>
      inTransactionOf('JobProven', (transaction) => {
        outer(transaction, PROVE).data = flipByte(outer(transaction, PROVE).data, 1);
      }),
    fails: ['history.signatures', 'proof.signature'],
  },
  lie('of which job the proof is', 'settled', 'history.signatures proof.signature', () =>
    inTransactionOf('JobProven', (transaction) => {
      outer(transaction, PROVE).accounts.reverse();
    }),
  ),
  lie('the proven hash', 'settled', 'proof.signature proof.hash account.state', () =>
    forgeEvent('JobProven', set('output_hash', Array(32).fill(7))),
  ),
  lie('which request was answered', 'settled', 'proof.signature', () =>
    forgeEvent('JobProven', flip('request_commitment')),
  ),
  lie('the settled hash', 'settled', 'proof.hash settlement.signer', () =>
    forgeEvent('JobSettled', set('output_hash', Array(32).fill(7))),
  ),
  lie('which request was answered, of a proof that came alone', 'alone', 'proof.signature', () =>
    forgeEvent('JobProven', flip('request_commitment')),
  ),
  {
    what: "the worker's proof key on record",
    job: 'settled',
    forgery: () => forgeEvent('WorkerRegistered', set('proof_key', Keypair.generate().publicKey)),
    fails: [],
    // The Worker account still has the key of the proof.
    unchecked: ['proof.key'],
  },
  lie('when the job was proven', 'settled', 'deadline.proven account.state', () =>
    forgeEvent('JobProven', plus(121, 'unix_time')),
  ),
  lie('when the job was acknowledged first', 'reassigned', 'deadline.acknowledged', () =>
    forgeEvent('JobAcknowledged', (fields) =>
      fields.attempt === 1 ? plus(121, 'unix_time')(fields) : {},
    ),
  ),
  lie('the first attempt', 'reassigned', 'work.attempts', () =>
    forgeEvent('JobAcknowledged', (fields) => (fields.attempt === 1 ? { attempt: 2 } : {})),
  ),
  lie('the worker that was given the job', 'settled', 'work.assignment account.state', () =>
    forgeEvent('JobAcknowledged', set('worker', Keypair.generate().publicKey)),
  ),
];
