/**
 * The escrow program's client. Pure where it can be: builders return instructions, decoders take
 * bytes, and only `fetch…`, `gather…`, `locateJob`, `createSender` and `createLedgerClock` speak to
 * a ledger.
 *
 * It reads and writes through the committed IDL, so `new Program(IDL, provider)` of
 * `@coral-xyz/anchor` does the same work. Anchor's event listeners are the exception: they read
 * logs, and the program's events are calls to itself, which `decodeEvents` reads.
 */

export {
  ACCOUNT_VERSION,
  type AccountName,
  type Accounts,
  type DecodedAccount,
  decodeAccount,
  fetchAllCreditAccounts,
  fetchAllGateways,
  fetchAllJobs,
  fetchAllModels,
  fetchAllWorkers,
  fetchConfig,
  fetchCreditAccount,
  fetchGateway,
  fetchJob,
  fetchModel,
  fetchTreasury,
  fetchWorker,
  gatewaySigners,
  isEnded,
  modelText,
  type ReadOptions,
  workerEndpoint,
  workerModels,
} from './accounts.ts';
export { type Addresses, createAddresses, PROGRAM_ID } from './addresses.ts';
export { decodeArguments, IDL } from './codec.ts';
export { type EscrowError, EscrowErrorCode, escrowErrorOf } from './errors.ts';
export {
  type DecodedEvent,
  decodeEventData,
  decodeEvents,
  type EventName,
  type Events,
  type ExecutedTransaction,
} from './events.ts';
export type { Escrow } from './generated/anchorType.ts';
export * from './generated/constants.ts';
export type * from './generated/types.ts';
export * from './generated/vocabulary.ts';
export * from './instructions.ts';
export { createJobId, createJobIds, formatJobId, jobIdTimeMs, parseJobId } from './jobId.ts';
export {
  affordableTokens,
  chargeCredits,
  freeTokenLimit,
  lockCredits,
  type Price,
} from './pricing.ts';
export {
  canonicalJson,
  formatReceipt,
  type Json,
  modelCardHash,
  type ProvenOutput,
  parseProof,
  parseReceipt,
  parseReceiptMessage,
  proofMessage,
  receiptMessage,
  requestCommitment,
  type SignedMessage,
  sign,
  signHashed,
  signHashedBy,
  verifyHashed,
  verifySignature,
  workerRequestMessage,
} from './proof.ts';
export {
  connectRpc,
  createRpc,
  type LedgerNode,
  NoAnswerError,
  type Post,
  type Rpc,
  RpcError,
  type RpcOptions,
} from './rpc/rpc.ts';
export * from './sender/index.ts';
export {
  type AnswerDetails,
  answerDetails,
  statementOf,
  type ToolCall,
} from './statement.ts';
export { type Check, conclude, type Verdict } from './verify/check.ts';
export { connectLedger } from './verify/connection/connectLedger.ts';
export { gatherModel } from './verify/job/cardRules.ts';
export type { ClientEvidence } from './verify/job/clientEvidence.ts';
export type { Evidence } from './verify/job/evidence.ts';
export { JobNotLocatedError } from './verify/job/findLock.ts';
export { gatherEvidence } from './verify/job/gatherEvidence.ts';
export { locateJob } from './verify/job/locateJob.ts';
export { type JobSummary, verifyJob } from './verify/job/verifyJob.ts';
export { auditProgram } from './verify/program/auditProgram.ts';
export { gatherProgram } from './verify/program/gatherProgram.ts';
