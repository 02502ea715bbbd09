/** Why a transaction failed, in the form in which clusters tell it over JSON-RPC. */
export type TransactionError =
  | string
  | { readonly InstructionError: readonly [index: number, error: InstructionError] }
  | { readonly DuplicateInstruction: number }
  | { readonly InsufficientFundsForRent: { readonly account_index: number } }
  | { readonly ProgramExecutionTemporarilyRestricted: { readonly account_index: number } };

export type InstructionError = string | { readonly Custom: number };

// LiteSVM numbers its errors and declares their names for the compiler alone: at run time only
// these lists have them. Their order is LiteSVM's.

const TRANSACTION_ERRORS = [
  'AccountInUse',
  'AccountLoadedTwice',
  'AccountNotFound',
  'ProgramAccountNotFound',
  'InsufficientFundsForFee',
  'InvalidAccountForFee',
  'AlreadyProcessed',
  'BlockhashNotFound',
  'CallChainTooDeep',
  'MissingSignatureForFee',
  'InvalidAccountIndex',
  'SignatureFailure',
  'InvalidProgramForExecution',
  'SanitizeFailure',
  'ClusterMaintenance',
  'AccountBorrowOutstanding',
  'WouldExceedMaxBlockCostLimit',
  'UnsupportedVersion',
  'InvalidWritableAccount',
  'WouldExceedMaxAccountCostLimit',
  'WouldExceedAccountDataBlockLimit',
  'TooManyAccountLocks',
  'AddressLookupTableNotFound',
  'InvalidAddressLookupTableOwner',
  'InvalidAddressLookupTableData',
  'InvalidAddressLookupTableIndex',
  'InvalidRentPayingAccount',
  'WouldExceedMaxVoteCostLimit',
  'WouldExceedAccountDataTotalLimit',
  'MaxLoadedAccountsDataSizeExceeded',
  'ResanitizationNeeded',
  'InvalidLoadedAccountsDataSizeLimit',
  'UnbalancedTransaction',
  'ProgramCacheHitMaxLimit',
  'CommitCancelled',
] as const;

const INSTRUCTION_ERRORS = [
  'GenericError',
  'InvalidArgument',
  'InvalidInstructionData',
  'InvalidAccountData',
  'AccountDataTooSmall',
  'InsufficientFunds',
  'IncorrectProgramId',
  'MissingRequiredSignature',
  'AccountAlreadyInitialized',
  'UninitializedAccount',
  'UnbalancedInstruction',
  'ModifiedProgramId',
  'ExternalAccountLamportSpend',
  'ExternalAccountDataModified',
  'ReadonlyLamportChange',
  'ReadonlyDataModified',
  'DuplicateAccountIndex',
  'ExecutableModified',
  'RentEpochModified',
  'NotEnoughAccountKeys',
  'AccountDataSizeChanged',
  'AccountNotExecutable',
  'AccountBorrowFailed',
  'AccountBorrowOutstanding',
  'DuplicateAccountOutOfSync',
  'InvalidError',
  'ExecutableDataModified',
  'ExecutableLamportChange',
  'ExecutableAccountNotRentExempt',
  'UnsupportedProgramId',
  'CallDepth',
  'MissingAccount',
  'ReentrancyNotAllowed',
  'MaxSeedLengthExceeded',
  'InvalidSeeds',
  'InvalidRealloc',
  'ComputationalBudgetExceeded',
  'PrivilegeEscalation',
  'ProgramEnvironmentSetupFailure',
  'ProgramFailedToComplete',
  'ProgramFailedToCompile',
  'Immutable',
  'IncorrectAuthority',
  'AccountNotRentExempt',
  'InvalidAccountOwner',
  'ArithmeticOverflow',
  'UnsupportedSysvar',
  'IllegalOwner',
  'MaxAccountsDataAllocationsExceeded',
  'MaxAccountsExceeded',
  'MaxInstructionTraceLengthExceeded',
  'BuiltinProgramsMustConsumeComputeUnits',
  'BorshIoError',
] as const;

/** One of LiteSVM's error objects; which fields it has tells its kind. */
export interface SvmError {
  readonly index?: number;
  readonly accountIndex?: number;
  readonly err?: () => number | { readonly code?: number };
  readonly constructor: { readonly name: string };
}

/**
 * @param error what LiteSVM tells: a number for an error without further words, else an object
 * @throws Error for one that this release of LiteSVM did not have
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

function nameIn(names: readonly string[], index: number): string {
  const name = names[index];
  if (name === undefined) throw new Error(`LiteSVM has a new error: ${index}`);
  return name;
}
