import { base58 } from '@scure/base';
import { Keypair } from '@solana/web3.js';
import {
  ED25519,
  type ForgeryCase,
  flipByte,
  forgeEvent,
  inTransactionOf,
  KEY_AT,
  outer,
  plus,
  SIGNATURE_AT,
  set,
} from './forge.ts';

/** Lies about who did the work, when, and what they proved. */
export const PROOF_FORGERIES: readonly ForgeryCase[] = [
  {
    what: "a byte of the worker's signature",
    job: 'settled',
    forgery: () =>
      inTransactionOf('JobProven', (transaction) => {
        const precompile = outer(transaction, ED25519);
        precompile.data = flipByte(precompile.data, SIGNATURE_AT);
      }),
    fails: ['history.signatures', 'proof.signature'],
  },
  {
    what: 'the key of the proof',
    job: 'settled',
    forgery: () =>
      inTransactionOf('JobProven', (transaction) => {
        const bytes = base58.decode(outer(transaction, ED25519).data);
        bytes.set(Keypair.generate().publicKey.toBytes(), KEY_AT);
        outer(transaction, ED25519).data = base58.encode(bytes);
      }),
    fails: ['history.signatures', 'proof.signature', 'proof.key'],
  },
  {
    what: "the form of the precompile's instruction",
    job: 'settled',
    forgery: () =>
      inTransactionOf('JobProven', (transaction) => {
        outer(transaction, ED25519).data = flipByte(outer(transaction, ED25519).data, 1);
      }),
    fails: ['history.signatures', 'proof.signature'],
    unchecked: ['proof.key'],
  },
  {
    what: 'the proven hash',
    job: 'settled',
    forgery: () => forgeEvent('JobProven', set('output_hash', Array(32).fill(7))),
    fails: ['proof.signature', 'proof.hash', 'account.state'],
    unchecked: ['proof.key'],
  },
  {
    what: 'the settled hash',
    job: 'settled',
    forgery: () => forgeEvent('JobSettled', set('output_hash', Array(32).fill(7))),
    fails: ['proof.hash'],
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
