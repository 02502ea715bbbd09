import type { InstructionError, TransactionError } from './transactionError.ts';

/** A cluster's words for why a transaction failed; where we lack them, the error's name. */
export function describeError(error: TransactionError): string {
  if (typeof error === 'string') return TRANSACTION_WORDS[error] ?? error;
  if ('InstructionError' in error) {
    const [index, cause] = error.InstructionError;
    return `Error processing Instruction ${index}: ${describeInstructionError(cause)}`;
  }
  if ('DuplicateInstruction' in error) {
    const { DuplicateInstruction: index } = error;
    return `Transaction contains a duplicate instruction (${index}) that is not allowed`;
  }
  if ('InsufficientFundsForRent' in error) {
    const { account_index: index } = error.InsufficientFundsForRent;
    return `Transaction results in an account (${index}) with insufficient funds for rent`;
  }
  const { account_index: index } = error.ProgramExecutionTemporarilyRestricted;
  return `Execution of the program referenced by account at index ${index} is temporarily restricted.`;
}

function describeInstructionError(error: InstructionError): string {
  if (typeof error === 'string') return INSTRUCTION_WORDS[error] ?? error;
  return `custom program error: 0x${error.Custom.toString(16)}`;
}

const TRANSACTION_WORDS: Readonly<Record<string, string>> = {
  AccountInUse: 'Account in use',
  AccountLoadedTwice: 'Account loaded twice',
  AccountNotFound: 'Attempt to debit an account but found no record of a prior credit.',
  ProgramAccountNotFound: 'Attempt to load a program that does not exist',
  InsufficientFundsForFee: 'Insufficient funds for fee',
  InvalidAccountForFee: 'This account may not be used to pay transaction fees',
  AlreadyProcessed: 'This transaction has already been processed',
  BlockhashNotFound: 'Blockhash not found',
  InvalidAccountIndex: 'Transaction contains an invalid account reference',
  SignatureFailure: 'Transaction did not pass signature verification',
  InvalidProgramForExecution: 'This program may not be used for executing instructions',
  SanitizeFailure: 'Transaction failed to sanitize accounts offsets correctly',
  AddressLookupTableNotFound: "Transaction loads an address table account that doesn't exist",
  InvalidAddressLookupTableIndex: 'Transaction address table lookup uses an invalid index',
  TooManyAccountLocks: 'Transaction locked too many accounts',
  MaxLoadedAccountsDataSizeExceeded: 'Transaction exceeded max loaded accounts data size cap',
  InvalidLoadedAccountsDataSizeLimit:
    'LoadedAccountsDataSizeLimit set for transaction must be greater than 0.',
};

const INSTRUCTION_WORDS: Readonly<Record<string, string>> = {
  GenericError: 'generic instruction error',
  InvalidArgument: 'invalid program argument',
  InvalidInstructionData: 'invalid instruction data',
  InvalidAccountData: 'invalid account data for instruction',
  AccountDataTooSmall: 'account data too small for instruction',
  InsufficientFunds: 'insufficient funds for instruction',
  IncorrectProgramId: 'incorrect program id for instruction',
  MissingRequiredSignature: 'missing required signature for instruction',
  AccountAlreadyInitialized: 'instruction requires an uninitialized account',
  UninitializedAccount: 'instruction requires an initialized account',
  NotEnoughAccountKeys: 'insufficient account keys for instruction',
  ExternalAccountLamportSpend: 'instruction spent from the balance of an account it does not own',
  ReadonlyLamportChange: 'instruction changed the balance of a read-only account',
  ReadonlyDataModified: 'instruction modified data of a read-only account',
  UnsupportedProgramId: 'Unsupported program id',
  MissingAccount: 'An account required by the instruction is missing',
  ReentrancyNotAllowed: 'Cross-program invocation reentrancy not allowed for this instruction',
  MaxSeedLengthExceeded: 'Length of the seed is too long for address generation',
  InvalidSeeds: 'Provided seeds do not result in a valid address',
  ComputationalBudgetExceeded: 'Computational budget exceeded',
  PrivilegeEscalation: 'Cross-program invocation with unauthorized signer or writable account',
  ProgramFailedToComplete: 'Program failed to complete',
  IncorrectAuthority: 'Incorrect authority provided',
  AccountNotRentExempt: 'An account does not have enough lamports to be rent-exempt',
  InvalidAccountOwner: 'Invalid account owner',
  ArithmeticOverflow: 'Program arithmetic overflowed',
  UnsupportedSysvar: 'Unsupported sysvar',
  IllegalOwner: 'Provided owner is not allowed',
};
