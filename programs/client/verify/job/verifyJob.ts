import { formatJobId } from '../../jobId.ts';
import type { Check } from '../check.ts';
import * as account from './accountRules.ts';
import { calls } from './callRules.ts';
import { card } from './cardRules.ts';
import type { ClientEvidence } from './clientEvidence.ts';
import * as delivery from './deliveryRules.ts';
import * as dispute from './endingRules.ts';
import { deadlines, returns } from './endingRules.ts';
import type { Evidence } from './evidence.ts';
import { amended, evidence as verdictEvidence } from './evidenceRules.ts';
import { authenticity, sequence, signatures, states } from './historyRules.ts';
import { createRecord, eventsNamed, type JobRecord, statusOf } from './record.ts';
import type { Rule } from './rule.ts';
import * as payments from './settlementRules.ts';
import * as settlement from './settlementRules.ts';
import * as lock from './workRules.ts';
import * as proof from './workRules.ts';
import * as work from './workRules.ts';

/** A job by its events, in the words of the API. */
export interface JobSummary {
  readonly address: string;
  readonly id: string | null;
  readonly status: string;
  readonly model: string | null;
  readonly tier: string | null;
  readonly wallet: string | null;
  readonly worker: string | null;
  readonly credits_locked: bigint;
  /** What the wallet paid in the end, less what an upheld dispute repaid. */
  readonly credits_charged: bigint;
}

/** In the order of a job's life. */
const RULES: readonly Rule[] = [
  ...[signatures, authenticity, sequence, states, calls],
  ...[lock.address, lock.price, lock.terms, lock.balances, card],
  ...[work.attempts, work.assignment, proof.signature, proof.key, proof.hash],
  ...[delivery.output, delivery.details, delivery.receipt, delivery.request, delivery.answer],
  ...[settlement.signer, settlement.charge, settlement.share, settlement.balances],
  ...[payments.worker, payments.treasury, payments.tokenBalances],
  ...returns,
  ...deadlines,
  ...[dispute.opened, amended, verdictEvidence, dispute.resolved, dispute.expired],
  ...[account.state, account.closed],
];

/** Judges everything about a job without any read: the same evidence gives the same checks. */
export function verifyJob(
  evidence: Evidence,
  client: ClientEvidence = {},
): { job: JobSummary; events: JobRecord['events']; checks: Check[] } {
  const record = createRecord(evidence, client);
  const checks = RULES.map((check) => check(record));
  return { job: summarize(record), events: record.events, checks };
}

function summarize(record: JobRecord): JobSummary {
  const lock = eventsNamed(record, 'JobLocked')[0]?.data;
  const given = eventsNamed(record, 'JobAcknowledged').at(-1)?.data;
  const settled = eventsNamed(record, 'JobSettled').at(-1)?.data;
  const resolved = eventsNamed(record, 'DisputeResolved').at(-1)?.data;
  const status = statusOf(record.events);
  return {
    address: record.job.toBase58(),
    id: lock ? formatJobId(lock.jobId) : null,
    status,
    model: lock?.modelId ?? null,
    tier: lock ? lock.tier : null,
    wallet: lock?.wallet.toBase58() ?? null,
    worker: given?.worker.toBase58() ?? null,
    credits_locked: lock?.lockedCredits ?? 0n,
    credits_charged: (resolved ?? settled)?.chargedCredits ?? 0n,
  };
}
