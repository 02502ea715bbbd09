/** Why a transaction failed, in the form of clusters' JSON-RPC. */
export type TransactionError =
  | string
  | { readonly InstructionError: readonly [index: number, error: InstructionError] }
  | { readonly DuplicateInstruction: number }
  | { readonly InsufficientFundsForRent: { readonly account_index: number } }
  | { readonly ProgramExecutionTemporarilyRestricted: { readonly account_index: number } };

type InstructionError = string | { readonly Custom: number };

// LiteSVM numbers its errors and declares their names for the compiler alone: at run time only
// these tables have them, in LiteSVM's order. Beside each is a cluster's message, where there is one.

const TRANSACTION_ERRORS: Readonly<Record<string, string>> = {
  AccountInUse: 'Account in use',
  AccountLoadedTwice: 'Account loaded twice',
  AccountNotFound: 'Attempt to debit an account but found no record of a prior credit.',
  ProgramAccountNotFound: 'Attempt to load a program that does not exist',
  InsufficientFundsForFee: 'Insufficient funds for fee',
  InvalidAccountForFee: 'This account may not be used to pay transaction fees',
  AlreadyProcessed: 'This transaction has already been processed',
  BlockhashNotFound: 'Blockhash not found',
  CallChainTooDeep: '',
  MissingSignatureForFee: '',
  InvalidAccountIndex: 'Transaction contains an invalid account reference',
  SignatureFailure: 'Transaction did not pass signature verification',
  InvalidProgramForExecution: 'This program may not be used for executing instructions',
  SanitizeFailure: 'Transaction failed to sanitize accounts offsets correctly',
  ClusterMaintenance: '',
  AccountBorrowOutstanding: '',
  WouldExceedMaxBlockCostLimit: '',
  UnsupportedVersion: '',
  InvalidWritableAccount: '',
  WouldExceedMaxAccountCostLimit: '',
  WouldExceedAccountDataBlockLimit: '',
  TooManyAccountLocks: 'Transaction locked too many accounts',
  AddressLookupTableNotFound: "Transaction loads an address table account that doesn't exist",
  InvalidAddressLookupTableOwner: '',
  InvalidAddressLookupTableData: '',
  InvalidAddressLookupTableIndex: 'Transaction address table lookup uses an invalid index',
  InvalidRentPayingAccount: '',
  WouldExceedMaxVoteCostLimit: '',
  WouldExceedAccountDataTotalLimit: '',
  MaxLoadedAccountsDataSizeExceeded: 'Transaction exceeded max loaded accounts data size cap',
  ResanitizationNeeded: '',
  InvalidLoadedAccountsDataSizeLimit:
    'LoadedAccountsDataSizeLimit set for transaction must be greater than 0.',
  UnbalancedTransaction: '',
  ProgramCacheHitMaxLimit: '',
  CommitCancelled: '',
};

const INSTRUCTION_ERRORS: Readonly<Record<string, string>> = {
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
  UnbalancedInstruction: '',
  ModifiedProgramId: '',
  ExternalAccountLamportSpend: 'instruction spent from the balance of an account it does not own',
  ExternalAccountDataModified: '',
  ReadonlyLamportChange: 'instruction changed the balance of a read-only account',
  ReadonlyDataModified: 'instruction modified data of a read-only account',
  DuplicateAccountIndex: '',
  ExecutableModified: '',
  RentEpochModified: '',
  NotEnoughAccountKeys: 'insufficient account keys for instruction',
  AccountDataSizeChanged: '',
  AccountNotExecutable: '',
  AccountBorrowFailed: '',
  AccountBorrowOutstanding: '',
  DuplicateAccountOutOfSync: '',
  InvalidError: '',
  ExecutableDataModified: '',
  ExecutableLamportChange: '',
  ExecutableAccountNotRentExempt: '',
  UnsupportedProgramId: 'Unsupported program id',
  CallDepth: '',
  MissingAccount: 'An account required by the instruction is missing',
  ReentrancyNotAllowed: 'Cross-program invocation reentrancy not allowed for this instruction',
  MaxSeedLengthExceeded: 'Length of the seed is too long for address generation',
  InvalidSeeds: 'Provided seeds do not result in a valid address',
  InvalidRealloc: '',
  ComputationalBudgetExceeded: 'Computational budget exceeded',
  PrivilegeEscalation: 'Cross-program invocation with unauthorized signer or writable account',
  ProgramEnvironmentSetupFailure: '',
  ProgramFailedToComplete: 'Program failed to complete',
  ProgramFailedToCompile: '',
  Immutable: '',
  IncorrectAuthority: 'Incorrect authority provided',
  AccountNotRentExempt: 'An account does not have enough lamports to be rent-exempt',
  InvalidAccountOwner: 'Invalid account owner',
  ArithmeticOverflow: 'Program arithmetic overflowed',
  UnsupportedSysvar: 'Unsupported sysvar',
  IllegalOwner: 'Provided owner is not allowed',
  MaxAccountsDataAllocationsExceeded: '',
  MaxAccountsExceeded: '',
  MaxInstructionTraceLengthExceeded: '',
  BuiltinProgramsMustConsumeComputeUnits: '',
  BorshIoError: '',
};

/** One of LiteSVM's error objects; its class is its kind. */
export interface SvmError {
  readonly index?: number;
  readonly accountIndex?: number;
  readonly err?: () => number | { readonly code?: number };
  readonly constructor: { readonly name: string };
}

/**
 * @param error LiteSVM's error: a number without details, or else an object
 * @throws Error for an unknown error
 */
export function transactionErrorOf(error: number | SvmError): TransactionError {
  if (typeof error === 'number') return nameIn(TRANSACTION_ERRORS, error);
  const { index = 0, accountIndex: account_index = 0 } = error;
  switch (error.constructor.name) {
    case 'TransactionErrorInstructionError':
      return { InstructionError: [index, instructionErrorOf(error)] };
    case 'TransactionErrorDuplicateInstruction':
      return { DuplicateInstruction: index };
    case 'TransactionErrorInsufficientFundsForRent':
      return { InsufficientFundsForRent: { account_index } };
    case 'TransactionErrorProgramExecutionTemporarilyRestricted':
      return { ProgramExecutionTemporarilyRestricted: { account_index } };
    default:
      throw new Error(`LiteSVM has a new kind of error: ${error.constructor.name}`);
  }
}

function instructionErrorOf(error: SvmError): InstructionError {
  const cause = error.err?.();
  if (typeof cause === 'number') return nameIn(INSTRUCTION_ERRORS, cause);
  return cause?.code === undefined ? 'BorshIoError' : { Custom: cause.code };
}

function nameIn(errors: typeof TRANSACTION_ERRORS, index: number): string {
  const name = Object.keys(errors)[index];
  if (name === undefined) throw new Error(`LiteSVM has a new error: ${index}`);
  return name;
}

/** A cluster's message for a failed transaction, or else the error's name. */
export function describeError(error: TransactionError): string {
  if (typeof error === 'string') return TRANSACTION_ERRORS[error] || error;
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
  if (typeof error === 'string') return INSTRUCTION_ERRORS[error] || error;
  return `custom program error: 0x${error.Custom.toString(16)}`;
}
