import { Keypair } from '@solana/web3.js';
import {
  type ForgeryCase,
  flip,
  flipByte,
  forgeArguments,
  forgeEvent,
  inTransactionOf,
  outer,
  PROVE,
  plus,
  set,
} from './forge.ts';

/** Lies about who did the work, when, and what they proved. */
export const PROOF_FORGERIES: readonly ForgeryCase[] = [
  {
    what: "a byte of the worker's signature",
    job: 'settled',
    forgery: () =>
      inTransactionOf('JobProven', (transaction) =>
        forgeArguments(transaction, PROVE, flip('signature')),
      ),
    fails: ['history.signatures', 'proof.signature'],
  },
  {
    what: 'the key of the proof',
    job: 'settled',
    forgery: () => forgeEvent('JobProven', set('proof_key', Keypair.generate().publicKey)),
    fails: ['proof.signature', 'proof.key'],
  },
  {
    what: 'the instruction that brought the proof',
    job: 'settled',
    forgery: () =>
      inTransactionOf('JobProven', (transaction) => {
        outer(transaction, PROVE).data = flipByte(outer(transaction, PROVE).data, 1);
      }),
    fails: ['history.signatures', 'proof.signature'],
  },
  {
    what: 'of which job the proof is',
    job: 'settled',
    forgery: () =>
      inTransactionOf('JobProven', (transaction) => {
        outer(transaction, PROVE).accounts.reverse();
      }),
    fails: ['history.signatures', 'proof.signature'],
  },
  {
    what: 'the proven hash',
    job: 'settled',
    forgery: () => forgeEvent('JobProven', set('output_hash', Array(32).fill(7))),
    fails: ['proof.signature', 'proof.hash', 'account.state'],
  },
  {
    what: 'which request was answered',
    job: 'settled',
    forgery: () => forgeEvent('JobProven', flip('request_commitment')),
    fails: ['proof.signature'],
  },
  {
    what: 'the settled hash',
    job: 'settled',
    forgery: () => forgeEvent('JobSettled', set('output_hash', Array(32).fill(7))),
    fails: ['proof.hash', 'settlement.signer'],
  },
  {
    what: 'which request was answered, of a proof that came alone',
    job: 'alone',
    forgery: () => forgeEvent('JobProven', flip('request_commitment')),
    fails: ['proof.signature'],
  },
  {
    what: "the worker's proof key on record",
    job: 'settled',
    forgery: () => forgeEvent('WorkerRegistered', set('proof_key', Keypair.generate().publicKey)),
    fails: [],
    // The Worker account still has the key of the proof.
    unchecked: ['proof.key'],
  },
  {
    what: 'when the job was proven',
    job: 'settled',
    forgery: () => forgeEvent('JobProven', plus(121, 'unix_time')),
    fails: ['deadline.proven', 'account.state'],
  },
  {
    what: 'when the job was acknowledged first',
    job: 'reassigned',
    forgery: () =>
      forgeEvent('JobAcknowledged', (fields) =>
        fields.attempt === 1 ? plus(121, 'unix_time')(fields) : {},
      ),
    fails: ['deadline.acknowledged'],
  },
  {
    what: 'the first attempt',
    job: 'reassigned',
    forgery: () =>
      forgeEvent('JobAcknowledged', (fields) => (fields.attempt === 1 ? { attempt: 2 } : {})),
    fails: ['work.attempts'],
  },
  {
    what: 'the worker that was given the job',
    job: 'settled',
    forgery: () => forgeEvent('JobAcknowledged', set('worker', Keypair.generate().publicKey)),
    fails: ['work.assignment', 'account.state'],
  },
];
