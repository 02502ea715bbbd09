/**
 * Verification of a job and audit of the whole program, for Node and browsers. It needs no Buffer,
 * no module of Node, and neither Anchor nor web3.js. In a browser, keys are this package's own
 * `PublicKey`; keys and connections of web3.js are taken as well.
 */

export { PublicKey } from '#platform';
export { type Addresses, createAddresses, PROGRAM_ID } from '../addresses.ts';
export { formatJobId, parseJobId } from '../jobId.ts';
export type { LedgerConnection } from '../ledgerConnection.ts';
export { verifySignature } from '../proof.ts';
export { connectRpc, type LedgerNode, NoAnswerError, RpcError } from '../rpc/rpc.ts';
export { readAnswer, type SavedAnswer } from './answer/readAnswer.ts';
export { SavedFileError } from './answer/savedFile.ts';
export { isRequest, readRequest, type SentRequest } from './answer/sentRequest.ts';
export {
  type Check,
  type Conclusion,
  conclude,
  conclusionOf,
  NOT_PROVEN,
  type Verdict,
} from './check.ts';
export { compareNodes } from './compareNodes.ts';
export { connectLedger } from './connection/connectLedger.ts';
export { gatherModel } from './job/cardRules.ts';
export { type ClientEvidence, evidenceIn } from './job/clientEvidence.ts';
export type { Evidence } from './job/evidence.ts';
export { JobNotLocatedError } from './job/findLock.ts';
export { gatherEvidence } from './job/gatherEvidence.ts';
export { locateJob } from './job/locateJob.ts';
export { type JobSummary, verifyJob } from './job/verifyJob.ts';
export { auditProgram } from './program/auditProgram.ts';
export { gatherProgram } from './program/gatherProgram.ts';
