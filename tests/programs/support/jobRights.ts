import type { JobStatus } from '../../../programs/client/index.ts';

/** The instructions on a job's path, by their verbs. */
export type MatrixName = keyof typeof table;

/** What an instruction does in each status, for a signer with every right: a status or a refusal. */
export const table = {
  lock: {
    pending: 'AlreadyInitialized',
    processing: 'AlreadyInitialized',
    settling: 'AlreadyInitialized',
    settled: 'AlreadyInitialized',
    failed: 'AlreadyInitialized',
    // by now its id is two minutes old
    refunded: 'JobIdTooOld',
    disputed: 'AlreadyInitialized',
  },
  acknowledge: {
    pending: 'processing',
    processing: 'processing',
    settling: 'processing',
    settled: 'WrongJobStatus',
    failed: 'WrongJobStatus',
    refunded: 'WrongJobStatus',
    disputed: 'WrongJobStatus',
  },
  prove: {
    pending: 'WrongAddress',
    processing: 'settling',
    settling: 'settling',
    settled: 'WrongJobStatus',
    failed: 'WrongAddress',
    refunded: 'WrongAddress',
    disputed: 'WrongJobStatus',
  },
  settle: {
    pending: 'WrongAddress',
    processing: 'WrongJobStatus',
    settling: 'settled',
    settled: 'WrongJobStatus',
    failed: 'WrongAddress',
    refunded: 'WrongAddress',
    disputed: 'WrongJobStatus',
  },
  complete: {
    pending: 'settled',
    processing: 'settled',
    settling: 'ProofAlreadyGiven',
    settled: 'WrongJobStatus',
    failed: 'WrongJobStatus',
    refunded: 'WrongJobStatus',
    disputed: 'WrongJobStatus',
  },
  fail: {
    pending: 'failed',
    processing: 'failed',
    settling: 'failed',
    settled: 'WrongJobStatus',
    failed: 'WrongJobStatus',
    refunded: 'WrongJobStatus',
    disputed: 'WrongJobStatus',
  },
  refund: {
    pending: 'DeadlineNotReached',
    processing: 'DeadlineNotReached',
    settling: 'DeadlineNotReached',
    settled: 'WrongJobStatus',
    failed: 'WrongJobStatus',
    refunded: 'WrongJobStatus',
    disputed: 'WrongJobStatus',
  },
  dispute: {
    pending: 'WrongJobStatus',
    processing: 'WrongJobStatus',
    settling: 'WrongJobStatus',
    settled: 'disputed',
    failed: 'WrongJobStatus',
    refunded: 'WrongJobStatus',
    disputed: 'AlreadyDisputed',
  },
  resolve: {
    pending: 'WrongAddress',
    processing: 'WrongJobStatus',
    settling: 'WrongJobStatus',
    settled: 'WrongJobStatus',
    failed: 'WrongAddress',
    refunded: 'WrongAddress',
    disputed: 'settled',
  },
  expire: {
    pending: 'WrongJobStatus',
    processing: 'WrongJobStatus',
    settling: 'WrongJobStatus',
    settled: 'WrongJobStatus',
    failed: 'WrongJobStatus',
    refunded: 'WrongJobStatus',
    disputed: 'ArbitrationOpen',
  },
  close: {
    pending: 'JobNotClosable',
    processing: 'JobNotClosable',
    settling: 'JobNotClosable',
    settled: 'JobNotClosable',
    failed: 'JobNotClosable',
    refunded: 'closed',
    disputed: 'JobNotClosable',
  },
} satisfies Record<string, Record<JobStatus, string>>;

/** Everybody who might sign. */
export type Person = (typeof everybody)[number];
export const everybody = [
  'wallet',
  'otherWallet',
  'spenderKey',
  'gatewaySigner',
  'revokedSigner',
  'otherGatewaysSigner',
  'operator',
  'workerAuthority',
  'proofKey',
  'arbiter',
  'authority',
  'stranger',
] as const;

/** Who controls the job, and who acts for that controller. */
export const controllers = {
  'a gateway': 'gatewaySigner',
  'a gateway that was stopped since': 'gatewaySigner',
  'a gateway whose signer was replaced since': 'otherGatewaysSigner',
  'the spender’s key': 'spenderKey',
  'the wallet itself': 'wallet',
} satisfies Record<string, Person>;

/** Who has the right to an instruction; null: it asks for no signature. */
export const entitled = (name: MatrixName, acting: Person): Person[] | null => {
  switch (name) {
    case 'lock':
      return acting === 'wallet' ? ['wallet'] : ['wallet', acting];
    case 'acknowledge':
    case 'settle':
    case 'complete':
    case 'fail':
      return [acting];
    case 'dispute':
      return acting === 'wallet' ? ['wallet'] : ['wallet', acting];
    case 'resolve':
      return ['arbiter'];
    default:
      return null;
  }
};
