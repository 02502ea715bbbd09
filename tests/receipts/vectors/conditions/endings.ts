import { Keypair, PublicKey } from '@solana/web3.js';
import { decodeTransaction } from '../../../../programs/client/wire/index.ts';
import { addresses } from '../../../../testing/ledger/jobScene.ts';
import { type Fieldwise, number, plus, set } from '../fields.ts';
import {
  all,
  anyEvent,
  type Change,
  inAccount,
  inEvent,
  inMeta,
  inPlaceOf,
  inTransaction,
} from '../nodeChanges.ts';
import { type Condition, rows, type Subjects } from './condition.ts';

const STRANGER = Keypair.generate().publicKey;
const FIVES = Array(32).fill(5);

function opened({ jobs: { upheld, expired } }: Subjects): Condition[] {
  const disputed = (change: Fieldwise) => inEvent(upheld, 'JobDisputed', change);
  const [holds, fails] = ['holds dispute.opened', 'fails dispute.opened'];
  const unvouched = (credits: number) =>
    all(
      inEvent(upheld, 'JobLocked', set({ vouched: false, treasury_share_basis_points: 3_999 })),
      disputed(({ charged_credits }) => ({
        repayable_credits: number(charged_credits).muln(3_999).divn(10_000).addn(credits),
      })),
    );
  const exposure = (less: number) =>
    disputed(({ repayable_credits }) => ({
      disputed_exposure_base_units: number(repayable_credits).muln(10_000).subn(less),
    }));
  const byAnother: Change = (node) => {
    const { wallet } = anyEvent(node, 'JobLocked', expired) as { wallet: PublicKey };
    return inTransaction(expired, 'DisputeAmended', (shown) => {
      const wire = Buffer.from(shown.transaction[0], 'base64');
      wire.set(STRANGER.toBytes(), wire.indexOf(wallet.toBytes()));
      return { ...shown, transaction: [wire.toString('base64'), 'base64'] };
    })(node);
  };
  return [
    ...rows(upheld, {
      'a dispute: a charge and what can be repaid of it': [
        disputed((fields) => ({
          ...plus(1, 'charged_credits', 'repayable_credits')(fields),
          ...plus(10_000, 'disputed_exposure_base_units')(fields),
        })),
        fails,
      ],
      'a dispute: a credit less that can be repaid': [
        disputed(plus(-1, 'repayable_credits')),
        fails,
      ],
      'a dispute: the treasury’s share to be repaid, of a lock without a voucher': [
        unvouched(0),
        holds,
      ],
      'a dispute: more to be repaid, of a lock without a voucher': [unvouched(1), fails],
      'a dispute: another disputed hash': [disputed(set({ output_hash: FIVES })), fails],
      'a dispute: another disputed worker': [disputed(set({ worker: STRANGER })), fails],
      'a dispute: an exposure of what can be repaid': [exposure(0), holds],
      'a dispute: a base unit less than that': [exposure(1), fails],
    }),
    ...rows(expired, {
      'a wallet’s hash that another signed': [
        byAnother,
        'not_checkable dispute.amended, fails history.signatures',
      ],
      'a wallet’s hash, of another proven one': [
        inEvent(expired, 'DisputeAmended', set({ output_hash: FIVES })),
        'fails dispute.amended',
      ],
      // A contradiction goes before evidence that is missing.
      'another proven hash, where the wallet is not seen to sign': [
        all(
          inEvent(expired, 'JobLocked', set({ wallet: STRANGER })),
          inEvent(expired, 'DisputeAmended', set({ output_hash: FIVES })),
        ),
        'fails dispute.amended',
      ],
    }),
  ];
}

function resolved({ jobs: { upheld, repaid, expired } }: Subjects): Condition[] {
  const [holds, fails] = ['holds dispute.resolved', 'fails dispute.resolved'];
  /** A part of the slash, by which the treasury's credits are repaid. */
  const partly =
    (more: number): Change =>
    (node) => {
      const lock = anyEvent(node, 'JobLocked', upheld) as { treasury_share_basis_points: number };
      const charged = number(anyEvent(node, 'JobDisputed', upheld).charged_credits);
      const due = charged.muln(lock.treasury_share_basis_points).divn(10_000).addn(more);
      return inEvent(upheld, 'DisputeResolved', ({ charged_credits, repaid_credits }) => ({
        ...{ slashed_tokens: number(1), stake_tokens: number(0), unstaking_tokens: number(0) },
        repaid_credits: due,
        charged_credits: number(charged_credits).add(number(repaid_credits)).sub(due),
      }))(node);
    };
  const repaidBy = (change: Fieldwise) => inEvent(repaid, 'DisputeResolved', change);
  const owed = (more: number) =>
    repaidBy(({ repaid_credits }) => ({ owed_credits: number(repaid_credits).addn(more) }));
  const elsewhere = plus(1, 'treasury_sequence', 'disputed_exposure_base_units');
  return [
    ...rows(upheld, {
      'a part of the slash, and the treasury’s credits': [partly(0), holds],
      'a part of the slash, and a credit more': [partly(1), fails],
      'an exposure after another change of the treasury': [
        inEvent(upheld, 'DisputeResolved', elsewhere),
        holds,
      ],
    }),
    ...rows(repaid, {
      'a slash of the gateway’s worker': [repaidBy(set({ slashed_tokens: number(1) })), fails],
      'another charge after a verdict': [repaidBy(plus(1, 'charged_credits')), fails],
      'less owed than is repaid': [owed(-1), fails],
      'more owed than is repaid': [owed(1), holds],
    }),
    ...rows(expired, {
      'an expiry after another change of the treasury': [
        inEvent(expired, 'DisputeExpired', elsewhere),
        'holds dispute.expired',
      ],
    }),
  ];
}

/** A dispute that is open, and changes that no lock came before. */
function waiting({ jobs: { expired, open } }: Subjects): Condition[] {
  const overdue =
    (seconds: number): Change =>
    (node) => {
      const { unix_time } = anyEvent(node, 'JobDisputed', expired);
      const lock = anyEvent(node, 'JobLocked', expired) as { arbitration_window_seconds: number };
      const due = Number(unix_time) + lock.arbitration_window_seconds;
      const disputed = all(
        inTransaction(expired, 'DisputeExpired', () => null),
        inAccount(expired, 'Job', set({ sequence: 6 })),
      )(node);
      return { ...disputed, unix_time: due + seconds };
    };
  return [
    ...rows(expired, {
      'a dispute that is 60 s overdue': [overdue(60), 'holds deadline.open'],
      'a dispute that is 61 s overdue': [overdue(61), 'fails deadline.open'],
    }),
    ...rows(open, {
      'an acknowledgement in the place of a lock': [
        inPlaceOf(open, 'JobLocked', 'JobAcknowledged'),
        'not_checkable deadline.open account.state',
      ],
    }),
  ];
}

function closed({ jobs: { closed } }: Subjects): Condition[] {
  /** All of the rent, and some lamports, to an address of the program. */
  const toProgram = (lamports: number): Change =>
    all(
      inEvent(closed, 'JobLocked', set({ rent_payer: closed })),
      inEvent(closed, 'JobClosed', set({ rent_payer: closed })),
      inTransaction(closed, 'JobClosed', (shown) => {
        const meta = shown.meta as unknown as { preBalances: number[]; postBalances: number[] };
        const { keys } = decodeTransaction(Buffer.from(shown.transaction[0], 'base64'));
        const at = keys.findIndex((one) => closed.equals(new PublicKey(one)));
        meta.postBalances[at] = 2 * (meta.preBalances[at] ?? 0) + lamports;
        return shown;
      }),
    );
  return rows(closed, {
    'a rent that another paid': [
      inEvent(closed, 'JobLocked', set({ rent_payer: STRANGER })),
      'fails account.closed',
    ],
    // A contradiction goes before evidence that is missing.
    'the wrong payer of a rent whose return is not known': [
      inEvent(closed, 'JobClosed', set({ rent_payer: addresses.vault })),
      'fails account.closed',
    ],
    'a rent less the fee': [
      inMeta(closed, 'JobClosed', (meta) => {
        meta.fee -= 1;
      }),
      'not_checkable account.closed',
    ],
    'a gift beside the rent': [
      inMeta(closed, 'JobClosed', (meta) => {
        meta.postBalances = meta.postBalances.map((lamports) => lamports + 7);
      }),
      'holds account.closed',
    ],
    'a rent that came back whole, to a program’s address': [toProgram(0), 'holds account.closed'],
    'a rent that came back but for a lamport, to a program’s address': [
      toProgram(-1),
      'not_checkable account.closed',
    ],
  });
}

/** What the account says of the time of an acknowledgement, and of the wallet. */
function recorded({ jobs: { settled, expired } }: Subjects): Condition[] {
  const acknowledged = (later: number, recorded: number): Change =>
    all(
      inEvent(settled, 'JobAcknowledged', plus(later, 'unix_time')),
      inAccount(settled, 'Job', set({ acknowledged_after_seconds: recorded })),
    );
  return [
    ...rows(settled, {
      'an acknowledgement after 65,536 s': [acknowledged(70_000, 65_535), 'holds account.state'],
      'an acknowledgement after 65,536 s, in 16 bits': [
        acknowledged(70_000, 65_534),
        'fails account.state',
      ],
      'an acknowledgement before the lock': [acknowledged(-99, 0), 'holds account.state'],
    }),
    ...rows(expired, {
      'an account without the wallet’s dispute': [
        inAccount(expired, 'Job', set({ disputed_by_wallet: false })),
        'fails account.state',
      ],
    }),
  ];
}

/** What events leave behind that set fields back, or leave them as they were. */
function accounts({ jobs: { alone, acknowledged, repaid } }: Subjects): Condition[] {
  const proofAside: Change = (node) => {
    const { unix_time, worker } = anyEvent(node, 'JobAcknowledged', alone);
    const since = number(unix_time).sub(number(anyEvent(node, 'JobLocked', alone).unix_time));
    const none = { output_hash: Array(32).fill(0), settled_by: PublicKey.default };
    const zero = { prompt_tokens: 0, completion_tokens: 0, proven_after_seconds: 0 };
    const charge = { charged_credits: number(0), counted_tokens: 0, ended_after_seconds: 0 };
    const given = { worker, acknowledged_after_seconds: since.toNumber(), attempt: 2 };
    return all(
      inPlaceOf(alone, 'JobSettled', 'JobAcknowledged', ({ worker, output_hash }) => ({
        ...{ attempt: 2, voided_attempt: 1, voided_worker: worker },
        voided_output_hash: output_hash,
      })),
      inAccount(
        alone,
        'Job',
        set({ ...none, ...zero, ...charge, ...given, status: { Processing: {} } }),
      ),
    )(node);
  };
  const later = (job: typeof alone, event: string, ...recorded: string[]): Change =>
    all(
      inEvent(job, event, plus(5, 'unix_time')),
      inAccount(job, 'Job', (fields) =>
        Object.fromEntries(recorded.map((name) => [name, Number(fields[name]) + 5])),
      ),
    );
  const [given, proven, ended] = [
    ...['acknowledged_after_seconds', 'proven_after_seconds', 'ended_after_seconds'],
  ] as [string, string, string];
  const is = 'holds account.state';
  return [
    ...rows(alone, {
      'an acknowledgement that puts a proof aside': [proofAside, `${is} work.attempts`],
      'an acknowledgement that says of no proof that it put it aside': [
        inPlaceOf(alone, 'JobSettled', 'JobAcknowledged', set({ attempt: 2 })),
        'fails work.attempts',
      ],
    }),
    ...rows(acknowledged, {
      'an acknowledgement 5 s later than its completion': [
        later(acknowledged, 'JobAcknowledged', given),
        is,
      ],
    }),
    ...rows(repaid, {
      'a completion 5 s later, without an acknowledgement': [
        later(repaid, 'JobCompleted', given, proven, ended),
        is,
      ],
    }),
  ];
}

/** By which keys a verdict's evidence may be. */
const keys = ({ jobs: { upheld } }: Subjects): Condition[] =>
  rows(upheld, {
    'evidence by the key on record, and a proof by another': [
      inEvent(upheld, 'JobCompleted', set({ proof_key: STRANGER })),
      'holds dispute.evidence',
    ],
    'evidence by the key of the proof, and another on record': [
      inEvent(undefined, 'WorkerRegistered', set({ proof_key: STRANGER })),
      'holds dispute.evidence',
    ],
  });

/** Disputes, closings, and what the account says after all. */
export const endingConditions = [opened, resolved, waiting, closed, recorded, accounts, keys];
