import anchor from '@coral-xyz/anchor';
import { Keypair, PublicKey } from '@solana/web3.js';
import { decodeTransaction } from '../../../../programs/client/wire/index.ts';
import {
  all,
  anyEvent,
  type Change,
  fieldsOfAccount,
  inAccount,
  inEvent,
  inPlaceOf,
  inTransaction,
} from '../nodeChanges.ts';
import type { Condition, Subjects } from './condition.ts';

const { BN } = anchor;
const STRANGER = Keypair.generate().publicKey;
type Events = Parameters<typeof inEvent>[2];

/** Disputes, closings, and what the account says after all. */
export const endingConditions = (subjects: Subjects): Condition[] => [
  ...opened(subjects),
  ...resolved(subjects),
  ...waiting(subjects),
  ...closed(subjects),
  ...accounts(subjects),
  ...keys(subjects),
];

const number = (value: unknown) => value as anchor.BN;

function opened({ jobs: { upheld, expired } }: Subjects): Condition[] {
  const disputed = (change: Events) => inEvent(upheld, 'JobDisputed', change);
  const unvouched = (credits: number) =>
    all(
      inEvent(upheld, 'JobLocked', () => ({ vouched: false, treasury_share_basis_points: 3_999 })),
      disputed((fields) => ({
        repayable_credits: number(fields.charged_credits).muln(3_999).divn(10_000).addn(credits),
      })),
    );
  const list: [string, Change, 'holds' | 'fails'][] = [
    [
      'a charge and what can be repaid of it',
      disputed((fields) => ({
        charged_credits: number(fields.charged_credits).addn(1),
        repayable_credits: number(fields.repayable_credits).addn(1),
        disputed_exposure_base_units: number(fields.disputed_exposure_base_units).addn(10_000),
      })),
      'fails',
    ],
    [
      'a credit less that can be repaid',
      disputed((fields) => ({ repayable_credits: number(fields.repayable_credits).subn(1) })),
      'fails',
    ],
    ['the treasury’s share to be repaid, of a lock without a voucher', unvouched(0), 'holds'],
    ['more to be repaid, of a lock without a voucher', unvouched(1), 'fails'],
    ['another disputed hash', disputed(() => ({ output_hash: Array(32).fill(5) })), 'fails'],
    ['another disputed worker', disputed(() => ({ worker: STRANGER })), 'fails'],
    [
      'an exposure of what can be repaid',
      disputed((fields) => ({
        disputed_exposure_base_units: number(fields.repayable_credits).muln(10_000),
      })),
      'holds',
    ],
    [
      'a base unit less than that',
      disputed((fields) => ({
        disputed_exposure_base_units: number(fields.repayable_credits).muln(10_000).subn(1),
      })),
      'fails',
    ],
  ];
  const wallet: Change = (node) => {
    const lock = anyEvent(node, 'JobLocked', expired) as { wallet: typeof STRANGER };
    return inTransaction(expired, 'DisputeAmended', (shown) => {
      const wire = Buffer.from(shown.transaction[0], 'base64');
      wire.set(STRANGER.toBytes(), wire.indexOf(lock.wallet.toBytes()));
      return { ...shown, transaction: [wire.toString('base64'), 'base64'] };
    })(node);
  };
  return [
    ...list.map(([name, change, verdict]) => ({
      ...{ name: `a dispute: ${name}`, job: upheld, change },
      is: { 'dispute.opened': verdict },
    })),
    {
      ...{ name: 'a wallet’s hash that another signed', job: expired, change: wallet },
      is: { 'dispute.amended': 'not_checkable', 'history.signatures': 'fails' },
    },
    {
      ...{ name: 'a wallet’s hash, of another proven one', job: expired },
      change: inEvent(expired, 'DisputeAmended', () => ({ output_hash: Array(32).fill(5) })),
      is: { 'dispute.amended': 'fails' },
    },
  ];
}

function resolved({ jobs: { upheld, repaid, expired } }: Subjects): Condition[] {
  const verdict = (change: Events) => inEvent(upheld, 'DisputeResolved', change);
  const less = (credits: (fields: Record<string, never>) => number, repaidMore = 0) =>
    verdict((fields) => {
      const repaid = number(fields.repaid_credits);
      const due = new BN(credits(fields) + repaidMore);
      return {
        slashed_tokens: new BN(1),
        repaid_credits: due,
        charged_credits: number(fields.charged_credits).add(repaid).sub(due),
      };
    });
  const share: Change = (node) => {
    const lock = anyEvent(node, 'JobLocked', upheld) as { treasury_share_basis_points: number };
    const { charged_credits } = anyEvent(node, 'JobDisputed', upheld);
    const part = number(charged_credits).muln(lock.treasury_share_basis_points).divn(10_000);
    return less(() => part.toNumber())(node);
  };
  const shareMore: Change = (node) => {
    const lock = anyEvent(node, 'JobLocked', upheld) as { treasury_share_basis_points: number };
    const { charged_credits } = anyEvent(node, 'JobDisputed', upheld);
    const part = number(charged_credits).muln(lock.treasury_share_basis_points).divn(10_000);
    return less(() => part.toNumber(), 1)(node);
  };
  const repaidBy = (change: Events) => inEvent(repaid, 'DisputeResolved', change);
  const rule = 'dispute.resolved';
  const elsewhere = (name: string, by: number): Change =>
    inEvent(name === 'DisputeExpired' ? expired : upheld, name, (fields) => ({
      treasury_sequence: number(fields.treasury_sequence).addn(by),
      disputed_exposure_base_units: number(fields.disputed_exposure_base_units).addn(1),
    }));
  return [
    {
      name: 'a part of the slash, and the treasury’s credits',
      job: upheld,
      change: share,
      is: { [rule]: 'holds' },
    },
    {
      name: 'a part of the slash, and a credit more',
      job: upheld,
      change: shareMore,
      is: { [rule]: 'fails' },
    },
    {
      ...{ name: 'a slash of the gateway’s worker', job: repaid, is: { [rule]: 'fails' } },
      change: repaidBy(() => ({ slashed_tokens: new BN(1) })),
    },
    {
      ...{ name: 'another charge after a verdict', job: repaid, is: { [rule]: 'fails' } },
      change: repaidBy((fields) => ({ charged_credits: number(fields.charged_credits).addn(1) })),
    },
    {
      ...{ name: 'less owed than is repaid', job: repaid, is: { [rule]: 'fails' } },
      change: repaidBy((fields) => ({ owed_credits: number(fields.repaid_credits).subn(1) })),
    },
    {
      ...{ name: 'more owed than is repaid', job: repaid, is: { [rule]: 'holds' } },
      change: repaidBy((fields) => ({ owed_credits: number(fields.repaid_credits).addn(1) })),
    },
    {
      ...{
        name: 'an exposure after another change of the treasury',
        job: upheld,
        is: { [rule]: 'holds' },
      },
      change: elsewhere('DisputeResolved', 1),
    },
    {
      ...{ name: 'an expiry after another change of the treasury', job: expired },
      ...{ change: elsewhere('DisputeExpired', 1), is: { 'dispute.expired': 'holds' } },
    },
  ] as Condition[];
}

/** A dispute that is open, and changes that no lock came before. */
function waiting({ jobs: { expired, open } }: Subjects): Condition[] {
  const at =
    (seconds: number): Change =>
    (node) => {
      const { unix_time } = anyEvent(node, 'JobDisputed', expired);
      const lock = anyEvent(node, 'JobLocked', expired) as { arbitration_window_seconds: number };
      const due = Number(unix_time) + lock.arbitration_window_seconds;
      return {
        ...all(
          inTransaction(expired, 'DisputeExpired', () => null),
          inAccount(expired, 'Job', () => ({ sequence: 6 })),
        )(node),
        unix_time: due + seconds,
      };
    };
  const rule = 'deadline.open';
  return [
    {
      name: 'a dispute that is 60 s overdue',
      job: expired,
      change: at(60),
      is: { [rule]: 'holds' },
    },
    {
      name: 'a dispute that is 61 s overdue',
      job: expired,
      change: at(61),
      is: { [rule]: 'fails' },
    },
    {
      ...{
        name: 'an acknowledgement in the place of a lock',
        job: open,
        is: { [rule]: 'not_checkable', 'account.state': 'not_checkable' },
      },
      change: inPlaceOf(open, 'JobLocked', 'JobAcknowledged'),
    },
  ] as Condition[];
}

function closed({ jobs: { closed: job, settled, expired } }: Subjects): Condition[] {
  const meta = (change: (meta: { fee: number; postBalances: number[] }) => void): Change =>
    inTransaction(job, 'JobClosed', (shown) => {
      change(shown.meta as never);
      return shown;
    });
  const rule = 'account.closed';
  const late = (seconds: number, recorded: number): Change =>
    all(
      inEvent(settled, 'JobAcknowledged', (fields) => ({
        unix_time: number(fields.unix_time).addn(seconds),
      })),
      inAccount(settled, 'Job', () => ({ acknowledged_after_seconds: recorded })),
    );
  const early: Change = all(
    inEvent(settled, 'JobAcknowledged', (fields) => ({
      unix_time: number(fields.unix_time).subn(99),
    })),
    inAccount(settled, 'Job', () => ({ acknowledged_after_seconds: 0 })),
  );
  const state = (verdict: string) => ({ 'account.state': verdict });
  return [
    {
      ...{ name: 'a rent that another paid', job, is: { [rule]: 'fails' } },
      change: inEvent(job, 'JobLocked', () => ({ rent_payer: STRANGER })),
    },
    {
      ...{ name: 'a rent less the fee', job, is: { [rule]: 'not_checkable' } },
      change: meta((shown) => {
        shown.fee -= 1;
      }),
    },
    {
      name: 'an acknowledgement after 65,536 s',
      job: settled,
      change: late(70_000, 65_535),
      is: state('holds'),
    },
    {
      name: 'an acknowledgement after 65,536 s, in 16 bits',
      job: settled,
      change: late(70_000, 65_534),
      is: state('fails'),
    },
    { name: 'an acknowledgement before the lock', job: settled, change: early, is: state('holds') },
    {
      ...{ name: 'an account without the wallet’s dispute', job: expired, is: state('fails') },
      change: inAccount(expired, 'Job', () => ({ disputed_by_wallet: false })),
    },
  ] as Condition[];
}

/** What events leave behind that set fields back, or leave them as they were. */
function accounts({ jobs: { alone, acknowledged, repaid } }: Subjects): Condition[] {
  const proofAside = all(
    inPlaceOf(alone, 'JobSettled', 'JobAcknowledged', () => ({ attempt: 2 })),
    (node) => {
      const { unix_time } = anyEvent(node, 'JobAcknowledged', alone);
      const { locked_at } = fieldsOfAccount(node, alone, 'Job');
      const since = Number(unix_time) - Number(locked_at);
      const none = { output_hash: Array(32).fill(0), settled_by: PublicKey.default };
      const zero = { prompt_tokens: 0, completion_tokens: 0, proven_after_seconds: 0 };
      const charge = { charged_credits: new BN(0), counted_tokens: 0, ended_after_seconds: 0 };
      return inAccount(alone, 'Job', () => ({
        ...{ ...none, ...zero, ...charge, status: { Processing: {} }, attempt: 2 },
        ...{ worker: anyEvent(node, 'JobAcknowledged').worker, acknowledged_after_seconds: since },
      }))(node);
    },
  );
  const later = (job: typeof alone, event: string, change: Events): Change =>
    all(
      inEvent(job, event, (fields) => ({ unix_time: number(fields.unix_time).addn(5) })),
      inAccount(job, 'Job', change),
    );
  const plus = (fields: Record<string, never>, ...names: string[]) =>
    Object.fromEntries(names.map((name) => [name, Number(fields[name]) + 5]));
  const ended = ['proven_after_seconds', 'ended_after_seconds'];
  const is = { 'account.state': 'holds' } as const;
  return [
    { name: 'an acknowledgement that puts a proof aside', job: alone, change: proofAside, is },
    {
      ...{ name: 'an acknowledgement 5 s later than its completion', job: acknowledged, is },
      change: later(acknowledged, 'JobAcknowledged', (fields) =>
        plus(fields, 'acknowledged_after_seconds'),
      ),
    },
    {
      ...{ name: 'a completion 5 s later, without an acknowledgement', job: repaid, is },
      change: later(repaid, 'JobCompleted', (fields) =>
        plus(fields, 'acknowledged_after_seconds', ...ended),
      ),
    },
  ];
}

/** By which keys a verdict's evidence may be. */
function keys({ jobs: { upheld, closed } }: Subjects): Condition[] {
  const rule = 'dispute.evidence';
  const key = () => ({ proof_key: STRANGER });
  const rent = (lamports: number): Change =>
    all(
      inEvent(closed, 'JobLocked', () => ({ rent_payer: closed })),
      inEvent(closed, 'JobClosed', () => ({ rent_payer: closed })),
      inTransaction(closed, 'JobClosed', (shown) => {
        const meta = shown.meta as unknown as { preBalances: number[]; postBalances: number[] };
        const { keys } = decodeTransaction(Buffer.from(shown.transaction[0], 'base64'));
        const at = keys.findIndex((one) => closed.equals(new PublicKey(one)));
        const before = meta.preBalances[at] ?? 0;
        meta.postBalances[at] = 2 * before + lamports;
        return shown;
      }),
    );
  return [
    {
      ...{ name: 'evidence by the key on record, and a proof by another', job: upheld },
      ...{ change: inEvent(upheld, 'JobCompleted', key), is: { [rule]: 'holds' } },
    },
    {
      ...{ name: 'evidence by the key of the proof, and another on record', job: upheld },
      ...{ change: inEvent(undefined, 'WorkerRegistered', key), is: { [rule]: 'holds' } },
    },
    {
      ...{ name: 'a rent that came back whole, to a program’s address', job: closed },
      ...{ change: rent(0), is: { 'account.closed': 'holds' } },
    },
    {
      ...{ name: 'a rent that came back but for a lamport, to a program’s address', job: closed },
      ...{ change: rent(-1), is: { 'account.closed': 'not_checkable' } },
    },
  ];
}
