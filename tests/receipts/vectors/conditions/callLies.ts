import { base58 } from '@scure/base';
import { Keypair, type PublicKey } from '@solana/web3.js';
import { TOKEN_PROGRAM } from '../../../../programs/client/addresses.ts';
import { coder } from '../../../../testing/ledger/anchorCoder.ts';
import { addresses } from '../../../../testing/ledger/jobScene.ts';
import { changeArguments, flip, flipByte, type InstructionJson, number, set } from '../fields.ts';
import { inJson, inMeta, type Meta, type TransactionJson } from '../nodeChanges.ts';
import { type Condition, lies, type Subjects } from './condition.ts';

/** The instructions of a settlement in two steps. */
const [PROVE, SETTLE] = [0, 1];
/** Those of jobs that were completed in one transaction. */
const [COMPLETED, RETRIED] = [0, 1];

export function outer({ transaction }: TransactionJson, index: number): InstructionJson {
  const found = transaction.message.instructions[index];
  if (!found) throw new Error('the transaction has no such instruction');
  return found;
}

/** The two token transfers of a settlement, made by this instruction. */
export function transfers({ innerInstructions }: Meta, instruction = SETTLE) {
  const [toWorker, toTreasury] =
    innerInstructions.find(({ index }) => index === instruction)?.instructions ?? [];
  if (!toWorker || !toTreasury) throw new Error('a settlement has two transfers');
  return { toWorker, toTreasury };
}

function signed({ jobs: { settled } }: Subjects): Condition[] {
  const proving = (change: (call: InstructionJson) => void) =>
    inJson(settled, 'JobProven', (shown) => change(outer(shown, PROVE)));
  const unproven = 'fails history.signatures proof.signature';
  return lies(settled, {
    'what the controller signed (settled)': [
      inJson(settled, 'JobSettled', (shown) => flipByte(outer(shown, SETTLE), 10)),
      'fails history.signatures settlement.signer',
    ],
    'the signature that names a transaction (settled)': [
      inJson(settled, 'JobAcknowledged', ({ transaction }) => {
        transaction.signatures.reverse();
      }),
      'fails history.signatures',
    ],
    "a byte of the worker's signature (settled)": [
      proving((call) => changeArguments(call, flip('signature'))),
      unproven,
    ],
    'the highest price that was signed (settled)': [
      inJson(settled, 'JobLocked', ({ transaction }) => {
        const isLock = (call: InstructionJson) =>
          coder.instruction.decode(Buffer.from(base58.decode(call.data)))?.name === 'job_lock';
        for (const call of transaction.message.instructions.filter(isLock)) {
          changeArguments(call, set({ max_credits: number(7) }));
        }
      }),
      'fails history.signatures lock.terms',
    ],
    'of which job the proof is (settled)': [
      proving(({ accounts }) => {
        accounts.reverse();
      }),
      unproven,
    ],
  });
}

function ofCompletions({ jobs: { completed, retried } }: Subjects): Condition[] {
  const inCompletion = (job: PublicKey, change: (shown: TransactionJson) => void) =>
    inJson(job, 'JobCompleted', change);
  const unproven = 'fails history.signatures proof.signature settlement.signer';
  return [
    ...lies(completed, {
      'the instruction that completed the job (completed)': [
        inCompletion(completed, (shown) => flipByte(outer(shown, COMPLETED), 1)),
        unproven,
      ],
      'the counted tokens that were signed (completed)': [
        inCompletion(completed, (shown) =>
          changeArguments(outer(shown, COMPLETED), set({ counted_tokens: 400 })),
        ),
        'fails history.signatures settlement.signer',
      ],
    }),
    ...lies(retried, {
      "a byte of the worker's signature, of one of several jobs (retried)": [
        inCompletion(retried, (shown) => changeArguments(outer(shown, RETRIED), flip('signature'))),
        'fails history.signatures proof.signature',
      ],
      'of which jobs the proofs of one transaction are (retried)': [
        inCompletion(retried, (shown) => {
          const [one, other] = [outer(shown, COMPLETED), outer(shown, RETRIED)];
          [one.data, other.data] = [other.data, one.data];
        }),
        unproven,
      ],
    }),
  ];
}

function ofPayments({ jobs: { settled } }: Subjects): Condition[] {
  const settling = (change: (meta: Meta) => void) => inMeta(settled, 'JobSettled', change);
  return lies(settled, {
    'a token balance (settled)': [
      settling(({ postTokenBalances: [held] }) => {
        if (held) held.uiTokenAmount.amount += '0';
      }),
      'fails settlement.tokens',
    ],
    'the amount of a transfer (settled)': [
      settling((meta) => flipByte(transfers(meta).toWorker, 1)),
      'fails settlement.worker_payment settlement.tokens',
    ],
    'the payee of a transfer (settled)': [
      settling((meta) => {
        transfers(meta).toTreasury.accounts[1] = 0;
      }),
      'fails settlement.worker_payment settlement.treasury_payment settlement.tokens',
    ],
    'the program that moved tokens (settled)': [
      settling((meta) => {
        transfers(meta).toWorker.programIdIndex = 0;
      }),
      'fails settlement.worker_payment settlement.tokens',
    ],
  });
}

function ofRefunds({ jobs: { refunded } }: Subjects): Condition[] {
  /** A transfer of one base unit, made by what refunded the job. */
  const moving = (from: PublicKey) =>
    inJson(refunded, 'JobRefunded', ({ meta, transaction }) => {
      const { accountKeys } = transaction.message;
      const programIdIndex = accountKeys.push(TOKEN_PROGRAM.toBase58()) - 1;
      const source = accountKeys.push(from.toBase58()) - 1;
      meta.innerInstructions[0]?.instructions.unshift({
        programIdIndex,
        accounts: [source, 0, 0],
        data: base58.encode(Uint8Array.of(3, 1, 0, 0, 0, 0, 0, 0, 0)),
      });
    });
  return lies(refunded, {
    'that a refund paid somebody (refunded)': [
      moving(addresses.vault),
      'fails history.signatures refund.returned',
    ],
    'that the sender of a refund moved tokens of his own (refunded)': [
      moving(Keypair.generate().publicKey),
      'fails history.signatures',
    ],
  });
}

function ofClosings({ jobs: { closed } }: Subjects): Condition[] {
  const closing = (change: (meta: Meta) => void) => inMeta(closed, 'JobClosed', change);
  return lies(closed, {
    'the rent (closed)': [
      closing((meta) => {
        meta.postBalances = meta.postBalances.map((lamports) => lamports - 1);
      }),
      // Who paid it signed the closing here, and could have spent it.
      'not_checkable account.closed',
    ],
    'what the closed account had (closed)': [
      closing((meta) => {
        meta.preBalances = meta.preBalances.map((lamports) => lamports + 1);
      }),
      'fails account.closed',
    ],
  });
}

/** Lies about signatures, calls, transfers and lamports. */
export const callLies = [signed, ofCompletions, ofPayments, ofRefunds, ofClosings];
