/**
 * What a page needs so that a wallet can sign for the program, for Node and browsers. It has
 * instructions, accounts, and the calls that send and follow a signed transaction. It needs no
 * Buffer, no module of Node, and neither Anchor nor web3.js.
 */

export { PublicKey } from '#platform';
export {
  decodeAccount,
  fetchConfig,
  fetchCreditAccount,
  fetchGateway,
  fetchJob,
  fetchModel,
  fetchWorker,
  gatewaySigners,
  type ReadOptions,
  unixSecondsOf,
} from '../accounts.ts';
export { type Addresses, createAddresses, PROGRAM_ID } from '../addresses.ts';
export { type EscrowError, escrowErrorOf } from '../errors.ts';
export {
  BASE_UNITS_PER_CREDIT,
  CREDITS_MAX,
  NO_LIMIT,
  RETIREMENT_NOTICE_SECONDS,
} from '../generated/constants.ts';
export type { Config, CreditAccount, EscrowErrorName, Job } from '../generated/types.ts';
export * from '../instructions.ts';
export { parseJobId } from '../jobId.ts';
export {
  parseProof,
  parseReceipt,
  proofMessage,
  receiptMessage,
  type SignedMessage,
  verifyHashed,
  verifySignature,
} from '../proof.ts';
export {
  getBalance,
  getLatestBlockhash,
  preflightErrorOf,
  sendTransaction,
} from '../rpc/methods.ts';
export { connectRpc, NoAnswerError, type Rpc, RpcError } from '../rpc/rpc.ts';
export { followTransaction } from '../sender/followTransaction.ts';
export { type Refusal, refusalOf, type SendResult } from '../sender/sendResult.ts';
export { simulate } from '../sender/simulate.ts';
export { statementOf } from '../statement.ts';
export { associatedTokenAddress, tokenAccountCreate } from '../token/instructions.ts';
export { decodeTokenAccount, type TokenAccount } from '../token/layout.ts';
export { connectLedger } from '../verify/connection/connectLedger.ts';
export {
  type CompiledInstruction,
  compileMessage,
  type DecodedTransaction,
  decodeTransaction,
  encodeDraft,
  encodeMessage,
} from '../wire/index.ts';
