import anchor from '@coral-xyz/anchor';
import { base58 } from '@scure/base';
import { Keypair, type PublicKey, SYSVAR_CLOCK_PUBKEY } from '@solana/web3.js';
import { TOKEN_PROGRAM } from '../../../programs/client/addresses.ts';
import { createAddresses } from '../../../programs/client/index.ts';
import {
  type ForgeryCase,
  forgeAccount,
  forgeEvent,
  inTransactionOf,
  plus,
  plusOne,
  set,
} from './forge.ts';

const { BN } = anchor;
const addresses = createAddresses();

/** Lies about disputes, failures, refunds and closings, and about the account. */
export const ENDING_FORGERIES: readonly ForgeryCase[] = [
  {
    what: 'the disputed charge',
    job: 'upheld',
    forgery: () => forgeEvent('JobDisputed', plusOne('charged_credits')),
    fails: ['dispute.opened', 'dispute.resolved'],
  },
  {
    what: "the client's hash, so that it is the proven one",
    job: 'upheld',
    forgery: () => forgeEvent('JobDisputed', (fields) => ({ client_hash: fields.output_hash })),
    fails: ['dispute.opened', 'account.state'],
  },
  {
    what: 'the exposure',
    job: 'upheld',
    forgery: () => forgeEvent('JobDisputed', set('disputed_exposure_base_units', new BN(1))),
    fails: ['dispute.opened', 'dispute.resolved'],
  },
  {
    what: 'the exposure that was left when the dispute ended',
    job: 'expired',
    forgery: () => forgeEvent('DisputeExpired', plusOne('disputed_exposure_base_units')),
    fails: ['dispute.expired'],
  },
  {
    what: 'the exposure that was left when the dispute was decided',
    job: 'upheld',
    forgery: () => forgeEvent('DisputeResolved', plusOne('disputed_exposure_base_units')),
    fails: ['dispute.resolved'],
  },
  {
    what: 'the end of arbitration',
    job: 'upheld',
    forgery: () => forgeEvent('JobDisputed', plusOne('arbitration_ends_at')),
    fails: ['dispute.opened'],
  },
  {
    what: 'the repayment',
    job: 'upheld',
    forgery: () => forgeEvent('DisputeResolved', set('repaid_credits', new BN(2))),
    fails: ['dispute.resolved'],
  },
  {
    what: 'what the treasury owes',
    job: 'upheld',
    forgery: () => forgeEvent('DisputeResolved', set('owed_credits', new BN(2))),
    fails: ['dispute.resolved'],
  },
  {
    what: 'the whole charge, repaid for a part of the slash',
    job: 'upheld',
    forgery: () => forgeEvent('DisputeResolved', set('slashed_tokens', new BN(499))),
    fails: ['dispute.resolved'],
  },
  {
    what: 'the slash',
    job: 'upheld',
    forgery: () => forgeEvent('DisputeResolved', plusOne('slashed_tokens')),
    fails: ['dispute.resolved'],
  },
  {
    what: 'the verdict',
    job: 'upheld',
    forgery: () => forgeEvent('DisputeResolved', set('verdict', { UpheldGateway: {} })),
    fails: ['dispute.evidence', 'dispute.resolved', 'account.state'],
  },
  {
    what: 'a verdict for the client that was a rejection',
    job: 'upheld',
    forgery: () => forgeEvent('DisputeResolved', set('verdict', { Rejected: {} })),
    fails: ['dispute.evidence', 'dispute.resolved', 'account.state'],
  },
  {
    what: 'the hash of the evidence',
    job: 'upheld',
    forgery: () => forgeEvent('DisputeResolved', set('evidence_hash', Array(32).fill(7))),
    fails: ['dispute.evidence'],
  },
  {
    what: 'who opened a dispute, so that the wallet could not amend it',
    job: 'expired',
    forgery: () => forgeEvent('JobDisputed', set('disputed_by_wallet', true)),
    fails: ['dispute.amended'],
  },
  {
    what: 'the hash that the wallet put in place of its controller’s',
    job: 'expired',
    forgery: () => forgeEvent('DisputeAmended', set('client_hash', Array(32).fill(9))),
    fails: ['account.state'],
  },
  {
    what: 'when the dispute was amended',
    job: 'expired',
    forgery: () => forgeEvent('DisputeAmended', plus(86_401, 'unix_time')),
    fails: ['deadline.amended'],
  },
  {
    what: 'that a verdict was given while the job could still be disputed',
    job: 'upheld',
    forgery: () => forgeEvent('DisputeResolved', plus(-60, 'unix_time')),
    fails: ['deadline.resolved', 'account.state'],
  },
  {
    what: 'when the dispute was opened',
    job: 'expired',
    forgery: () => forgeEvent('JobDisputed', plus(90, 'unix_time', 'arbitration_ends_at')),
    fails: ['deadline.disputed', 'deadline.expired', 'account.state'],
  },
  {
    what: 'when the dispute was decided',
    job: 'upheld',
    forgery: () => forgeEvent('DisputeResolved', plus(90_000, 'unix_time')),
    fails: ['deadline.resolved', 'account.state'],
  },
  {
    what: 'what came back after a failure',
    job: 'failed',
    forgery: () => forgeEvent('JobFailed', set('returned_credits', new BN(7))),
    fails: ['failure.returned'],
  },
  {
    what: 'the credits available after a failure',
    job: 'failed',
    forgery: () => forgeEvent('JobFailed', plusOne('available_credits')),
    fails: ['failure.balances'],
  },
  {
    what: "the day's sum after a failure",
    job: 'failed',
    forgery: () => forgeEvent('JobFailed', plusOne('spent_today_credits')),
    fails: ['failure.balances'],
  },
  {
    what: 'when the job failed',
    job: 'failed',
    forgery: () => forgeEvent('JobFailed', plus(200, 'unix_time')),
    fails: ['deadline.failed', 'account.state'],
  },
  {
    what: 'when the job was refunded',
    job: 'refunded',
    forgery: () => forgeEvent('JobRefunded', plus(-86_400, 'unix_time')),
    fails: ['deadline.refunded', 'account.state'],
  },
  {
    what: 'the credits locked after a refund',
    job: 'refunded',
    forgery: () => forgeEvent('JobRefunded', plusOne('account_locked_credits')),
    fails: ['refund.balances'],
  },
  {
    what: "the day's sum after a refund",
    job: 'refunded',
    forgery: () => forgeEvent('JobRefunded', plusOne('spent_today_credits')),
    fails: ['refund.balances'],
  },
  {
    what: 'that a refund paid somebody',
    job: 'refunded',
    forgery: () => movingTokensInRefund(addresses.vault),
    fails: ['history.signatures', 'refund.returned'],
  },
  {
    what: 'that the sender of a refund moved tokens of his own',
    job: 'refunded',
    forgery: () => movingTokensInRefund(Keypair.generate().publicKey),
    fails: ['history.signatures'],
  },
  {
    what: 'who got the rent',
    job: 'closed',
    forgery: () => forgeEvent('JobClosed', set('rent_payer', Keypair.generate().publicKey)),
    fails: ['account.closed'],
  },
  {
    what: 'the rent',
    job: 'closed',
    forgery: () =>
      inTransactionOf('JobClosed', ({ meta }) => {
        meta.postBalances = meta.postBalances.map((lamports) => lamports - 1);
      }),
    fails: [],
    // Who paid it signed the closing here, and could have spent it.
    unchecked: ['account.closed'],
  },
  {
    what: 'what the closed account had',
    job: 'closed',
    forgery: () =>
      inTransactionOf('JobClosed', ({ meta }) => {
        meta.preBalances = meta.preBalances.map((lamports) => lamports + 1);
      }),
    fails: ['account.closed'],
  },
  {
    what: "the account's owner",
    job: 'settled',
    forgery: (jobs) => ({
      account: (account, address) =>
        address === jobs.settled.toBase58()
          ? { ...account, owner: TOKEN_PROGRAM.toBase58() }
          : undefined,
    }),
    fails: ['account.state'],
    unchecked: [
      ...['history.sequence', 'deadline.disputed', 'deadline.amended', 'deadline.resolved'],
      ...['deadline.expired', 'dispute.opened', 'dispute.amended', 'dispute.evidence'],
      ...['dispute.resolved', 'dispute.expired', 'account.closed'],
    ],
  },
  {
    what: 'a field of the account',
    job: 'settled',
    forgery: (jobs) => forgeAccount(jobs.settled, 'Job', plusOne('charged_credits')),
    fails: ['account.state'],
  },
  {
    what: 'the time, so that an open job is overdue',
    job: 'open',
    forgery: () => ({
      account(account, address) {
        if (address !== SYSVAR_CLOCK_PUBKEY.toBase58()) return undefined;
        const [base64, encoding] = account.data;
        const clock = Buffer.from(base64, 'base64');
        clock.writeBigInt64LE(clock.readBigInt64LE(32) + 200n, 32);
        return { ...account, data: [clock.toString('base64'), encoding] };
      },
    }),
    fails: ['deadline.open'],
  },
];

/** A transfer of one base unit, made by what refunded the job. */
function movingTokensInRefund(from: PublicKey) {
  return inTransactionOf('JobRefunded', ({ meta, transaction }) => {
    const { accountKeys } = transaction.message;
    const programIdIndex = accountKeys.push(TOKEN_PROGRAM.toBase58()) - 1;
    const source = accountKeys.push(from.toBase58()) - 1;
    meta.innerInstructions[0]?.instructions.unshift({
      programIdIndex,
      accounts: [source, 0, 0],
      data: base58.encode(Uint8Array.of(3, 1, 0, 0, 0, 0, 0, 0, 0)),
    });
  });
}
