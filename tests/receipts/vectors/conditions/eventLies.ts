import { Keypair } from '@solana/web3.js';
import { flip, number, plus, set } from '../fields.ts';
import { inEvent } from '../nodeChanges.ts';
import { type Condition, lies, type Subjects } from './condition.ts';

const STRANGER = Keypair.generate().publicKey;
const SEVENS = Array(32).fill(7);

/** Lies about fields of one event. */
export const eventLies = ({ jobs }: Subjects): Condition[] => [
  ...ofLock(jobs),
  ...ofWork(jobs),
  ...ofSettlement(jobs),
  ...ofCompletion(jobs),
  ...ofDispute(jobs),
  ...ofEnding(jobs),
];

type Jobs = Subjects['jobs'];
type Table = Readonly<Record<string, readonly [Parameters<typeof inEvent>[2], is: string]>>;

/** @param table what is said otherwise, and what it upsets */
const of = (jobs: Jobs, job: keyof Jobs, event: string, table: Table): Condition[] =>
  lies(
    jobs[job],
    Object.fromEntries(
      Object.entries(table).map(([what, [change, is]]) => [
        `${what} (${job})`,
        [inEvent(jobs[job], event, change), is],
      ]),
    ),
  );

const ofLock = (jobs: Jobs): Condition[] => [
  ...of(jobs, 'settled', 'JobLocked', {
    "the treasury's basis points": [
      set({ treasury_share_basis_points: 1_501 }),
      'fails settlement.share account.state',
    ],
  }),
  ...of(jobs, 'reassigned', 'JobLocked', {
    'the day whose limit counts the lock': [
      set({ limit_day: 0 }),
      'fails lock.balances settlement.balances account.state',
    ],
  }),
];

const ofWork = (jobs: Jobs): Condition[] => [
  ...of(jobs, 'settled', 'JobAcknowledged', {
    'the slot of an event': [plus(1, 'slot'), 'fails history.sequence'],
    'the worker that was given the job': [
      set({ worker: STRANGER }),
      'fails work.assignment account.state',
    ],
  }),
  ...of(jobs, 'reassigned', 'JobAcknowledged', {
    'when the job was acknowledged first': [
      (fields) => (fields.attempt === 1 ? plus(121, 'unix_time')(fields) : {}),
      'fails deadline.acknowledged',
    ],
    'the first attempt': [
      (fields) => (fields.attempt === 1 ? { attempt: 2 } : {}),
      'fails work.attempts',
    ],
  }),
  ...of(jobs, 'settled', 'JobProven', {
    'which request was answered': [flip('request_commitment'), 'fails proof.signature'],
    'the number of a change, so that it stands twice': [
      set({ job_sequence: 2 }),
      'fails history.sequence, ' +
        'not_checkable work.assignment deadline.disputed deadline.amended deadline.resolved ' +
        'deadline.expired dispute.opened dispute.amended dispute.evidence dispute.resolved ' +
        'dispute.expired account.state account.closed',
    ],
  }),
];

const ofSettlement = (jobs: Jobs): Condition[] => [
  ...of(jobs, 'settled', 'JobSettled', {
    'the settled hash': [set({ output_hash: SEVENS }), 'fails proof.hash settlement.signer'],
    'the charge': [
      plus(1, 'charged_credits'),
      'fails settlement.charge settlement.share settlement.balances account.state',
    ],
    'what came back': [plus(1, 'returned_credits'), 'fails settlement.charge'],
    'the counted tokens': [
      set({ counted_tokens: 400 }),
      'fails settlement.signer settlement.charge account.state',
    ],
    "the worker's share": [
      plus(1, 'worker_base_units'),
      'fails settlement.share settlement.worker_payment',
    ],
    "the treasury's share": [
      plus(1, 'treasury_base_units'),
      'fails settlement.share settlement.treasury_payment',
    ],
    'who settled': [set({ settled_by: STRANGER }), 'fails settlement.signer account.state'],
    'the credits available after the settlement': [
      plus(1, 'available_credits'),
      'fails settlement.balances',
    ],
    "the day's sum after the settlement": [
      plus(1, 'spent_today_credits'),
      'fails settlement.balances',
    ],
  }),
  ...of(jobs, 'claimable', 'JobSettled', {
    'what the worker can claim instead of being paid': [
      set({ worker_claimable_base_units: number(25_499) }),
      'fails settlement.worker_payment',
    ],
    'that the worker was paid what it can only claim': [
      set({ worker_paid: true }),
      'fails settlement.worker_payment',
    ],
  }),
  ...lies(jobs.settled, {
    "the worker's proof key on record (settled)": [
      inEvent(undefined, 'WorkerRegistered', set({ proof_key: STRANGER })),
      // The Worker account still has the key of the proof.
      'not_checkable proof.key',
    ],
    "the worker's payout account on record (settled)": [
      inEvent(undefined, 'WorkerRegistered', set({ payout: STRANGER })),
      // The Worker account still has the account that was paid.
      'not_checkable settlement.worker_payment',
    ],
  }),
];

/** Of an event whose transaction completed two jobs more. */
const ofCompletion = (jobs: Jobs): Condition[] =>
  of(
    jobs,
    'completed',
    'JobCompleted',
    Object.fromEntries(
      Object.entries(COMPLETION).map(([what, lie]) => [`${what}, of a completed job`, lie]),
    ),
  );

const PROVEN = 'fails proof.signature settlement.signer';
const COMPLETION: Table = {
  'when it was': [
    plus(121, 'unix_time'),
    'fails deadline.acknowledged deadline.proven deadline.settled account.state',
  ],
  'the attempt': [set({ attempt: 2 }), `${PROVEN} account.state`],
  'the worker': [
    set({ worker: STRANGER }),
    'fails proof.signature account.state, not_checkable proof.key settlement.worker_payment',
  ],
  'the proven hash': [flip('output_hash'), `${PROVEN} account.state`],
  'the prompt tokens': [set({ prompt_tokens: 11 }), `${PROVEN} account.state`],
  'the completion tokens': [set({ completion_tokens: 601 }), `${PROVEN} account.state`],
  'which request was answered': [flip('request_commitment'), PROVEN],
  'the counted tokens': [
    set({ counted_tokens: 400 }),
    'fails settlement.signer settlement.charge account.state',
  ],
  'the credits locked': [plus(1, 'account_locked_credits'), 'fails settlement.balances'],
};

const ofDispute = (jobs: Jobs): Condition[] => [
  ...of(jobs, 'upheld', 'JobDisputed', {
    "the client's hash, so that it is the proven one": [
      ({ output_hash }) => ({ client_hash: output_hash }),
      'fails dispute.opened account.state',
    ],
    'the end of arbitration': [plus(1, 'arbitration_ends_at'), 'fails dispute.opened'],
  }),
  ...of(jobs, 'upheld', 'DisputeResolved', {
    'the exposure that was left when the dispute was decided': [
      plus(1, 'disputed_exposure_base_units'),
      'fails dispute.resolved',
    ],
    'the repayment': [set({ repaid_credits: number(2) }), 'fails dispute.resolved'],
    'the slash': [plus(1, 'slashed_tokens'), 'fails dispute.resolved'],
    'the verdict': [
      set({ verdict: { UpheldGateway: {} } }),
      'fails dispute.evidence dispute.resolved account.state',
    ],
    'a verdict for the client that was a rejection': [
      set({ verdict: { Rejected: {} } }),
      'fails dispute.evidence dispute.resolved account.state',
    ],
    'the hash of the evidence': [set({ evidence_hash: SEVENS }), 'fails dispute.evidence'],
  }),
  ...of(jobs, 'repaid', 'DisputeResolved', {
    'the hash of a receipt': [flip('evidence_hash'), 'fails dispute.evidence'],
  }),
  ...of(jobs, 'expired', 'JobDisputed', {
    'who opened a dispute, so that the wallet could not amend it': [
      set({ disputed_by_wallet: true }),
      'fails dispute.amended',
    ],
  }),
  ...of(jobs, 'expired', 'DisputeAmended', {
    'the hash that the wallet put in place of its controller’s': [
      set({ client_hash: Array(32).fill(9) }),
      'fails account.state',
    ],
  }),
  ...of(jobs, 'expired', 'DisputeExpired', {
    'the exposure that was left when the dispute ended': [
      plus(1, 'disputed_exposure_base_units'),
      'fails dispute.expired',
    ],
  }),
];

const ofEnding = (jobs: Jobs): Condition[] => [
  ...of(jobs, 'failed', 'JobFailed', {
    'what came back after a failure': [
      set({ returned_credits: number(7) }),
      'fails failure.returned',
    ],
    'the credits available after a failure': [
      plus(1, 'available_credits'),
      'fails failure.balances',
    ],
    "the day's sum after a failure": [plus(1, 'spent_today_credits'), 'fails failure.balances'],
  }),
  ...of(jobs, 'refunded', 'JobRefunded', {
    'the credits locked after a refund': [
      plus(1, 'account_locked_credits'),
      'fails refund.balances',
    ],
    "the day's sum after a refund": [plus(1, 'spent_today_credits'), 'fails refund.balances'],
  }),
];
