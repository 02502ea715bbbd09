import { Keypair } from '@solana/web3.js';
import { type Fieldwise, flip, number, plus, set } from '../fields.ts';
import { inEvent } from '../nodeChanges.ts';
import { type Condition, lies, type Subjects } from './condition.ts';

const STRANGER = Keypair.generate().publicKey;
const SEVENS = Array(32).fill(7);
const PROVEN = 'fails proof.signature settlement.signer';

type Table = Readonly<Record<string, readonly [change: Fieldwise, is: string]>>;

/** By job and event: what is said otherwise of a field, and what that upsets. */
const LIES: Partial<Record<keyof Subjects['jobs'], Readonly<Record<string, Table>>>> = {
  settled: {
    JobLocked: {
      "the treasury's basis points": [
        set({ treasury_share_basis_points: 1_501 }),
        'fails settlement.share account.state',
      ],
    },
    JobAcknowledged: {
      'the id of the job in a later event': [flip('job_id'), 'fails lock.address'],
      'the slot of an event': [plus(1, 'slot'), 'fails history.sequence'],
      'the attempt whose proof was put aside': [set({ voided_attempt: 1 }), 'fails work.attempts'],
      'the worker that was given the job': [
        set({ worker: STRANGER }),
        'fails history.calls work.assignment account.state',
      ],
    },
    JobProven: {
      'which request was answered': [flip('statement'), 'fails proof.signature'],
      'the number of a change, so that it stands twice': [
        set({ job_sequence: 2 }),
        'fails history.sequence, ' +
          'not_checkable work.assignment deadline.disputed deadline.amended deadline.resolved ' +
          'deadline.expired dispute.opened dispute.amended dispute.evidence dispute.resolved ' +
          'dispute.expired account.state account.closed',
      ],
    },
    JobSettled: {
      'whose wallet was charged': [set({ wallet: STRANGER }), 'fails lock.address'],
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
      'how often the account of the credits was changed': [
        set({ credit_sequence: number(1) }),
        'fails history.sequence, not_checkable settlement.balances',
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
    },
  },
  // Its transaction locks no other job.
  open: {
    JobLocked: {
      'the token limit that was signed': [
        set({ token_limit: 7 }),
        'fails lock.terms account.state',
      ],
      'who paid the rent': [set({ rent_payer: STRANGER }), 'fails lock.terms account.state'],
      'whose job it is to control': [
        set({ controller: STRANGER }),
        'fails lock.terms account.state',
      ],
      'the time for the work': [
        set({ job_timeout_seconds: 121 }),
        'fails lock.terms account.state',
      ],
      'the time for a dispute': [
        set({ dispute_window_seconds: 61 }),
        'fails lock.terms account.state',
      ],
      'the time for the arbiter': [
        set({ arbitration_window_seconds: 86_401 }),
        'fails lock.terms account.state',
      ],
    },
  },
  reassigned: {
    JobLocked: {
      'the day whose limit counts the lock': [
        set({ limit_day: 0 }),
        'fails lock.terms lock.balances settlement.balances account.state',
      ],
    },
    JobAcknowledged: {
      'when the job was acknowledged first': [
        (fields) => (fields.attempt === 1 ? plus(121, 'unix_time')(fields) : {}),
        'fails history.sequence deadline.acknowledged',
      ],
      'the first attempt': [
        (fields) => (fields.attempt === 1 ? { attempt: 2 } : {}),
        'fails history.calls work.attempts',
      ],
    },
  },
  claimable: {
    JobSettled: {
      'what the worker can claim instead of being paid': [
        set({ worker_claimable_base_units: number(25_499) }),
        'fails settlement.worker_payment',
      ],
      'that the worker was paid what it can only claim': [
        set({ worker_paid: true }),
        'fails settlement.worker_payment',
      ],
    },
  },
  completed: {
    // Its transaction completed two jobs more.
    JobCompleted: {
      'when it was, of a completed job': [
        plus(121, 'unix_time'),
        'fails deadline.acknowledged deadline.proven deadline.settled account.state',
      ],
      'the worker, of a completed job': [
        set({ worker: STRANGER }),
        'fails proof.signature account.state, not_checkable proof.key settlement.worker_payment',
      ],
      'the proven hash, of a completed job': [flip('output_hash'), `${PROVEN} account.state`],
      'which request was answered, of a completed job': [flip('statement'), PROVEN],
      'the counted tokens, of a completed job': [
        set({ counted_tokens: 400 }),
        'fails settlement.signer settlement.charge account.state',
      ],
      'the credits locked, of a completed job': [
        plus(1, 'account_locked_credits'),
        'fails settlement.balances',
      ],
    },
  },
  upheld: {
    JobDisputed: {
      "the client's hash, so that it is the proven one": [
        ({ output_hash }) => ({ client_hash: output_hash }),
        'fails history.calls dispute.opened account.state',
      ],
      'the end of arbitration': [plus(1, 'arbitration_ends_at'), 'fails dispute.opened'],
    },
    DisputeResolved: {
      'the exposure that was left when the dispute was decided': [
        plus(1, 'disputed_exposure_base_units'),
        'fails dispute.resolved',
      ],
      'the worker of a verdict': [set({ worker: STRANGER }), 'fails dispute.resolved'],
      'what the treasury owes in all': [
        set({ owed_base_units: number(1) }),
        'fails dispute.resolved',
      ],
      'what was slashed in all': [
        set({ slashed_stake_tokens: number(0) }),
        'fails dispute.resolved',
      ],
      'a slash that left some of the stake': [
        set({ slashed_tokens: number(1), stake_tokens: number(1) }),
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
    },
  },
  repaid: {
    DisputeResolved: {
      'the hash of a receipt': [flip('evidence_hash'), 'fails dispute.evidence'],
    },
  },
  expired: {
    JobDisputed: {
      'who opened a dispute, so that the wallet could not amend it': [
        set({ disputed_by_wallet: true }),
        'fails history.calls dispute.amended',
      ],
    },
    DisputeAmended: {
      'the worker of a dispute that the wallet amended': [
        set({ worker: STRANGER }),
        'fails dispute.amended',
      ],
      'the hash that the wallet put in place of its controller’s': [
        set({ client_hash: Array(32).fill(9) }),
        'fails history.calls account.state',
      ],
    },
    DisputeExpired: {
      'the exposure that was left when the dispute ended': [
        plus(1, 'disputed_exposure_base_units'),
        'fails dispute.expired',
      ],
    },
  },
  failed: {
    JobFailed: {
      'why it failed': [set({ reason: { LeaseLost: {} } }), 'fails history.calls account.state'],
      'what came back after a failure': [
        set({ returned_credits: number(7) }),
        'fails failure.returned',
      ],
      'the credits available after a failure': [
        plus(1, 'available_credits'),
        'fails failure.balances',
      ],
      "the day's sum after a failure": [plus(1, 'spent_today_credits'), 'fails failure.balances'],
    },
  },
  refunded: {
    JobRefunded: {
      'the credits locked after a refund': [
        plus(1, 'account_locked_credits'),
        'fails refund.balances',
      ],
      "the day's sum after a refund": [plus(1, 'spent_today_credits'), 'fails refund.balances'],
    },
  },
};

/** Lies about fields of one event. */
export const eventLies = ({ jobs }: Subjects): Condition[] => [
  ...Object.entries(LIES).flatMap(([name, events]) => {
    const job = jobs[name as keyof typeof jobs];
    const changes = Object.entries(events).flatMap(([event, table]) =>
      Object.entries(table).map(
        ([what, [change, is]]) => [`${what} (${name})`, [inEvent(job, event, change), is]] as const,
      ),
    );
    return lies(job, Object.fromEntries(changes));
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
