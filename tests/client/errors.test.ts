import { describe, expect, it } from '@jest/globals';
import { SendTransactionError } from '@solana/web3.js';
import { EscrowErrorCode, escrowErrorOf } from '../../programs/client/errors.ts';
import { refusalOf } from '../../programs/client/sender/sendResult.ts';

/** Refusals of the ed25519 precompile's instruction, which the program reads no more. */
const RETIRED = [6_036, 6_037];

describe('a program error', () => {
  it('has a name for each number from 6000 that is not retired', () => {
    const numbers = Object.values(EscrowErrorCode);
    const all = [...numbers, ...RETIRED].sort((one, other) => one - other);
    expect(all).toEqual(all.map((_, index) => 6_000 + index));
  });

  it("is decoded from a transaction's status, with the instruction's index", () => {
    for (const [name, code] of Object.entries(EscrowErrorCode)) {
      const error = { InstructionError: [2, { Custom: code }] };
      expect(escrowErrorOf(error)).toEqual({ name, code, instructionIndex: 2 });
    }
  });

  it('is decoded from the web3.js error of a refused transaction', () => {
    const error = new SendTransactionError({
      action: 'simulate',
      signature: '',
      transactionMessage:
        'Transaction simulation failed: Error processing Instruction 11: custom program error: 0x1783',
    });
    expect(escrowErrorOf(error)).toEqual({
      name: 'InsufficientCredits',
      code: 6_019,
      instructionIndex: 11,
    });
  });

  it('is decoded from the web3.js error of a landed transaction', () => {
    const error = new SendTransactionError({
      action: 'send',
      signature: '',
      transactionMessage: 'Status: ({"err":{"InstructionError":[3,{"Custom":6019}]}})',
    });
    expect(escrowErrorOf(error)).toEqual({
      name: 'InsufficientCredits',
      code: 6_019,
      instructionIndex: 3,
    });
  });

  it('is not decoded from anything else', () => {
    const others = [
      null,
      'BlockhashNotFound',
      { InstructionError: [0, { Custom: 1 }] },
      { InstructionError: [0, { Custom: 6_999 }] },
      { InstructionError: [0, 'ProgramFailedToComplete'] },
      { InsufficientFundsForRent: { account_index: 1 } },
      new SendTransactionError({
        action: 'send',
        signature: '',
        transactionMessage: 'Node is behind by 42 slots',
      }),
    ];
    for (const other of others) expect(escrowErrorOf(other)).toBeUndefined();
  });
});

describe('a refused transaction', () => {
  it('keeps the ledger’s own error when the program is not the cause', () => {
    expect(refusalOf('AccountNotFound')).toEqual({
      name: 'AccountNotFound',
      code: null,
      instructionIndex: null,
    });
    expect(refusalOf({ InsufficientFundsForRent: { account_index: 0 } })).toEqual({
      name: 'InsufficientFundsForRent',
      code: null,
      instructionIndex: null,
    });
    expect(refusalOf({ InstructionError: [1, 'ComputationalBudgetExceeded'] })).toEqual({
      name: 'ComputationalBudgetExceeded',
      code: null,
      instructionIndex: 1,
    });
    expect(refusalOf({ InstructionError: [1, { Custom: 1 }] })).toEqual({
      name: '{"Custom":1}',
      code: null,
      instructionIndex: 1,
    });
  });
});
