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
  lie,
  plus,
  plusOne,
  set,
} from './forge.ts';

const { BN } = anchor;
const addresses = createAddresses();

/** Lies about disputes, failures, refunds and closings, and about the account. */
export const ENDING_FORGERIES: readonly ForgeryCase[] = [
  lie('the disputed charge', 'upheld', 'dispute.opened dispute.resolved', () =>
    forgeEvent('JobDisputed', plusOne('charged_credits')),
  ),
  {
    what: "the client's hash, so that it is the proven one",
    job: 'upheld',
    forgery: () => forgeEvent('JobDisputed', (fields) => ({ client_hash: fields.output_hash })),
    fails: ['dispute.opened', 'account.state'],
  },
  lie('the exposure', 'upheld', 'dispute.opened dispute.resolved', () =>
    forgeEvent('JobDisputed', set('disputed_exposure_base_units', new BN(1))),
  ),
  lie('the exposure that was left when the dispute ended', 'expired', 'dispute.expired', () =>
    forgeEvent('DisputeExpired', plusOne('disputed_exposure_base_units')),
  ),
  lie('the exposure that was left when the dispute was decided', 'upheld', 'dispute.resolved', () =>
    forgeEvent('DisputeResolved', plusOne('disputed_exposure_base_units')),
  ),
  lie('the end of arbitration', 'upheld', 'dispute.opened', () =>
    forgeEvent('JobDisputed', plusOne('arbitration_ends_at')),
  ),
  lie('the repayment', 'upheld', 'dispute.resolved', () =>
    forgeEvent('DisputeResolved', set('repaid_credits', new BN(2))),
  ),
  lie('what the treasury owes', 'upheld', 'dispute.resolved', () =>
    forgeEvent('DisputeResolved', set('owed_credits', new BN(2))),
  ),
  lie('the whole charge, repaid for a part of the slash', 'upheld', 'dispute.resolved', () =>
    forgeEvent('DisputeResolved', set('slashed_tokens', new BN(499))),
  ),
  lie('the slash', 'upheld', 'dispute.resolved', () =>
    forgeEvent('DisputeResolved', plusOne('slashed_tokens')),
  ),
  lie('the verdict', 'upheld', 'dispute.evidence dispute.resolved account.state', () =>
    forgeEvent('DisputeResolved', set('verdict', { UpheldGateway: {} })),
  ),
  {
    what: 'a verdict for the client that was a rejection',
    job: 'upheld',
    forgery: () => forgeEvent('DisputeResolved', set('verdict', { Rejected: {} })),
    fails: ['dispute.evidence', 'dispute.resolved', 'account.state'],
  },
  lie('the hash of the evidence', 'upheld', 'dispute.evidence', () =>
    forgeEvent('DisputeResolved', set('evidence_hash', Array(32).fill(7))),
  ),
  {
    what: 'who opened a dispute, so that the wallet could not amend it',
    job: 'expired',
    forgery: () => forgeEvent('JobDisputed', set('disputed_by_wallet', true)),
    fails: ['dispute.amended'],
  },
  lie('the hash that the wallet put in place of its controller’s', 'expired', 'account.state', () =>
    forgeEvent('DisputeAmended', set('client_hash', Array(32).fill(9))),
  ),
  lie('when the dispute was amended', 'expired', 'deadline.amended', () =>
    forgeEvent('DisputeAmended', plus(86_401, 'unix_time')),
  ),
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
  lie('when the dispute was decided', 'upheld', 'deadline.resolved account.state', () =>
    forgeEvent('DisputeResolved', plus(90_000, 'unix_time')),
  ),
  lie('what came back after a failure', 'failed', 'failure.returned', () =>
    forgeEvent('JobFailed', set('returned_credits', new BN(7))),
  ),
  lie('the credits available after a failure', 'failed', 'failure.balances', () =>
    forgeEvent('JobFailed', plusOne('available_credits')),
  ),
  lie("the day's sum after a failure", 'failed', 'failure.balances', () =>
    forgeEvent('JobFailed', plusOne('spent_today_credits')),
  ),
  lie('when the job failed', 'failed', 'deadline.failed account.state', () =>
    forgeEvent('JobFailed', plus(200, 'unix_time')),
  ),
  lie('when the job was refunded', 'refunded', 'deadline.refunded account.state', () =>
    forgeEvent('JobRefunded', plus(-86_400, 'unix_time')),
  ),
  lie('the credits locked after a refund', 'refunded', 'refund.balances', () =>
    forgeEvent('JobRefunded', plusOne('account_locked_credits')),
  ),
  lie("the day's sum after a refund", 'refunded', 'refund.balances', () =>
    forgeEvent('JobRefunded', plusOne('spent_today_credits')),
  ),
  lie('that a refund paid somebody', 'refunded', 'history.signatures refund.returned', () =>
    movingTokensInRefund(addresses.vault),
  ),
  lie('that the sender of a refund moved tokens of his own', 'refunded', 'history.signatures', () =>
    movingTokensInRefund(Keypair.generate().publicKey),
  ),
  lie('who got the rent', 'closed', 'account.closed', () =>
    forgeEvent('JobClosed', set('rent_payer', Keypair.generate().publicKey)),
  ),
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
  lie('what the closed account had', 'closed', 'account.closed', () =>
    inTransactionOf('JobClosed', ({ meta }) => {
      meta.preBalances = meta.preBalances.map((lamports) => lamports + 1);
    }),
  ),
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
  lie('a field of the account', 'settled', 'account.state', (jobs) =>
    forgeAccount(jobs.settled, 'Job', plusOne('charged_credits')),
  ),
  lie('the time, so that an open job is overdue', 'open', 'deadline.open', () => ({
    account(account, address) {
      if (address !== SYSVAR_CLOCK_PUBKEY.toBase58()) return undefined;
      const [base64, encoding] = account.data;
      const clock = Buffer.from(base64, 'base64');
      clock.writeBigInt64LE(clock.readBigInt64LE(32) + 200n, 32);
      return { ...account, data: [clock.toString('base64'), encoding] };
    },
  })),
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
