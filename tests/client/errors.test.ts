import { describe, expect, it } from '@jest/globals';
import { SendTransactionError } from '@solana/web3.js';
import { EscrowErrorCode, escrowErrorOf } from '../../programs/client/errors.ts';
import { refusalOf } from '../../programs/client/sender/sendResult.ts';

describe('a program error', () => {
  it("is decoded from a transaction's status, with the instruction's index", () => {
    for (const [name, code] of Object.entries(EscrowErrorCode)) {
      const error = { InstructionError: [2, { Custom: code }] };
      expect(escrowErrorOf(error)).toEqual({ name, code, instructionIndex: 2 });
    }
  });

  it.each([
    [
      'a refused',
      'Transaction simulation failed: Error processing Instruction 3: custom program error: 0x1783',
    ],
    ['a landed', 'Status: ({"err":{"InstructionError":[3,{"Custom":6019}]}})'],
  ])('is decoded from the web3.js error of %s transaction', (_what, transactionMessage) => {
    const error = new SendTransactionError({ action: 'send', signature: '', transactionMessage });
    const decoded = { name: 'InsufficientCredits', code: 6_019, instructionIndex: 3 };
    expect(escrowErrorOf(error)).toEqual(decoded);
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
  it.each([
    ['AccountNotFound', 'AccountNotFound', null],
    // It blames the fee payer only when it names the first account.
    [{ InsufficientFundsForRent: { account_index: 0 } }, 'InsufficientFundsForRent', null],
    [
      { InsufficientFundsForRent: { account_index: 3 } },
      'InsufficientFundsForRent of account 3',
      null,
    ],
    [{ InstructionError: [1, 'ComputationalBudgetExceeded'] }, 'ComputationalBudgetExceeded', 1],
    [{ InstructionError: [1, { Custom: 1 }] }, '{"Custom":1}', 1],
  ] as const)('keeps the ledger’s own error: %j', (error, name, instructionIndex) => {
    expect(refusalOf(error as Parameters<typeof refusalOf>[0])).toEqual({
      name,
      code: null,
      instructionIndex,
    });
  });
});
