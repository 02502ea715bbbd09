import { JOB_STATUSES, type JobStatus } from '../../../programs/client/generated/vocabulary.ts';

/** The instructions on a job's path, by their verbs. */
export type MatrixName = keyof typeof table;

const inEach = (outcome: string) =>
  Object.fromEntries(JOB_STATUSES.map((status) => [status, outcome])) as Record<JobStatus, string>;
const WRONG = inEach('WrongJobStatus');
/** Where no worker was ever acknowledged, its accounts are wrong before the status is. */
const UNGIVEN = { pending: 'WrongAddress', failed: 'WrongAddress', refunded: 'WrongAddress' };

/** What an instruction does in each status, for a signer with every right: a status or a refusal. */
export const table = {
  // by now the id of a refunded one is two minutes old
  lock: { ...inEach('AlreadyInitialized'), refunded: 'JobIdTooOld' },
  acknowledge: {
    ...WRONG,
    pending: 'processing',
    processing: 'processing',
    settling: 'processing',
  },
  prove: { ...WRONG, ...UNGIVEN, processing: 'settling', settling: 'settling' },
  settle: { ...WRONG, ...UNGIVEN, settling: 'settled' },
  complete: { ...WRONG, pending: 'settled', processing: 'settled', settling: 'ProofAlreadyGiven' },
  fail: { ...WRONG, pending: 'failed', processing: 'failed', settling: 'failed' },
  refund: {
    ...WRONG,
    ...{ pending: 'DeadlineNotReached', processing: 'DeadlineNotReached' },
    settling: 'DeadlineNotReached',
  },
  dispute: { ...WRONG, settled: 'disputed', disputed: 'AlreadyDisputed' },
  resolve: { ...WRONG, ...UNGIVEN, disputed: 'settled' },
  expire: { ...WRONG, disputed: 'ArbitrationOpen' },
  close: { ...inEach('JobNotClosable'), refunded: 'closed' },
} satisfies Record<string, Record<JobStatus, string>>;

/** Everybody who might sign. */
export type Person = (typeof everybody)[number];
export const everybody = [
  ...(['wallet', 'otherWallet', 'spenderKey', 'gatewaySigner', 'revokedSigner'] as const),
  ...(['otherGatewaysSigner', 'operator', 'workerAuthority', 'proofKey', 'arbiter'] as const),
  ...(['authority', 'stranger'] as const),
];

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
