import { creditsNumber, isoTime, sha256Text, usdcValue } from '../../../common/format.ts';
import type { EventName } from '../../../programs/client/events.ts';
import type { FailureReason } from '../../../programs/client/generated/vocabulary.ts';
import { type EventKind, WEBHOOK_KINDS } from '../../../webhooks/events.ts';
import type { EventOf } from '../../fold/change.ts';
import type { LedgerEvent } from '../../fold/event.ts';
import { FatalError } from '../../source/errors.ts';
import { lowCredits } from './creditAlerts.ts';
import { attemptOf, type EventContext, type Message, type OutgoingEvent } from './outgoingEvent.ts';

/** What a kind says of a ledger event; undefined: nothing. */
type MessageOf<Kind extends EventKind, Name extends EventName> = (
  event: EventOf<Name>,
  context: EventContext,
) => Message<Kind> | undefined | Promise<Message<Kind> | undefined>;

/** The ledger events that each kind is sent for, and what it says of them. */
const EVENT_SOURCES: {
  readonly [Kind in EventKind]: { readonly [Name in EventName]?: MessageOf<Kind, Name> };
} = {
  'job.submitted': {
    JobLocked: ({ data, signature, slot }) => ({
      wallet: data.wallet,
      data: {
        job_id: jobIdOf(data),
        model: data.modelId,
        tier: data.tier,
        credits_locked: creditsNumber(BigInt(data.lockedCredits)),
        escrow_tx: signature,
        escrow_pda: data.job,
        chain_slot: Number(slot),
        credits_remaining: creditsNumber(BigInt(data.availableCredits)),
      },
    }),
  },
  'job.processing': {
    JobAcknowledged: processing,
    JobCompleted: (event, context) =>
      context.acknowledged.has(attemptOf(event.data)) ? undefined : processing(event, context),
  },
  'job.completed': { JobSettled: completed, JobCompleted: completed },
  'job.failed': {
    JobFailed: (event, context) => ({
      wallet: event.data.wallet,
      // The program refuses a failure for the reason `none`.
      data: refund(event, context, { reason: event.data.reason as GivenReason }),
    }),
  },
  'job.timeout': {
    JobRefunded: (event, context) => ({
      wallet: event.data.wallet,
      data: refund(event, context, {}),
    }),
  },
  'job.disputed': {
    JobDisputed: ({ data, signature, slot }) => ({
      wallet: data.wallet,
      data: {
        job_id: jobIdOf(data),
        your_hash: sha256Text(data.clientHash),
        worker_hash: sha256Text(data.outputHash),
        dispute_tx: signature,
        chain_slot: Number(slot),
        arbitration_ends_at: isoTime(BigInt(data.arbitrationEndsAt)),
      },
    }),
  },
  'job.dispute_resolved': {
    DisputeResolved: ({ data, signature, slot }) => ({
      wallet: data.wallet,
      data: {
        job_id: jobIdOf(data),
        outcome: data.verdict === 'rejected' ? 'rejected' : 'upheld',
        credits_returned: creditsNumber(BigInt(data.repaidCredits)),
        resolution_tx: signature,
        chain_slot: Number(slot),
      },
    }),
    DisputeExpired: ({ data, signature, slot }) => ({
      wallet: data.wallet,
      data: {
        job_id: jobIdOf(data),
        outcome: 'expired',
        credits_returned: 0,
        resolution_tx: signature,
        chain_slot: Number(slot),
      },
    }),
  },
  'credit.low': {
    JobSettled: lowCredits,
    JobCompleted: lowCredits,
    CreditWithdrawn: lowCredits,
    CreditBought: lowCredits,
    ClaimPaid: lowCredits,
  },
  'credit.topup': {
    CreditBought({ data, signature, slot }) {
      const remaining = BigInt(data.availableCredits);
      return {
        wallet: data.wallet,
        data: {
          credits_added: creditsNumber(BigInt(data.credits)),
          credits_remaining: creditsNumber(remaining),
          usdc_value: usdcValue(remaining),
          tx: signature,
          chain_slot: Number(slot),
        },
      };
    },
  },
  'worker.registered': { WorkerRegistered: registeredWorker },
  'worker.slashed': {
    // The program takes stake for a fraudulent proof alone.
    DisputeResolved: ({ data, signature }) =>
      data.slashedTokens === '0'
        ? undefined
        : {
            wallet: null,
            data: {
              worker_address: data.worker,
              slash_amount_token: creditsNumber(BigInt(data.slashedTokens)),
              slash_tx: signature,
              reason: 'fraudulent_proof',
              related_job_id: jobIdOf(data),
            },
          },
  },
};

const ANNOUNCED = new Set(Object.values(EVENT_SOURCES).flatMap(Object.keys));

/** Whether any kind is sent for ledger events of this name. */
export function isAnnounced({ name }: LedgerEvent): boolean {
  return ANNOUNCED.has(name);
}

/**
 * The events that webhooks get for one ledger event, in the order of their kinds. An alert that
 * begins or ends with it is stored in the same database transaction.
 */
export async function outgoingEventsOf(
  event: LedgerEvent,
  context: EventContext,
): Promise<OutgoingEvent[]> {
  const outgoing: OutgoingEvent[] = [];
  for (const kind of WEBHOOK_KINDS) {
    const messageOf = EVENT_SOURCES[kind][event.name] as
      | MessageOf<EventKind, EventName>
      | undefined;
    const message = messageOf && (await messageOf(event, context));
    if (message) outgoing.push({ ...message, kind, event } as OutgoingEvent);
  }
  return outgoing;
}

function processing(
  { data, signature, slot }: EventOf<'JobAcknowledged' | 'JobCompleted'>,
  context: EventContext,
): Message<'job.processing'> {
  const { wallet, model_id } = jobOf(data, context);
  return {
    wallet,
    data: {
      job_id: jobIdOf(data),
      model: model_id,
      worker_address: data.worker,
      tx: signature,
      chain_slot: Number(slot),
    },
  };
}

function completed(
  { data, signature, slot }: EventOf<'JobSettled' | 'JobCompleted'>,
  context: EventContext,
): Message<'job.completed'> {
  const { model_id, tier } = jobOf(data, context);
  const charged = BigInt(data.chargedCredits);
  return {
    wallet: data.wallet,
    data: {
      job_id: jobIdOf(data),
      model: model_id,
      tier,
      credits_charged: creditsNumber(charged),
      usdc_value: usdcValue(charged),
      worker_address: data.worker,
      settlement_tx: signature,
      chain_slot: Number(slot),
      prompt_tokens: data.promptTokens,
      // What was charged, as in the job's usage.
      completion_tokens: Math.min(data.completionTokens, data.countedTokens),
      credits_remaining: creditsNumber(BigInt(data.availableCredits)),
    },
  };
}

type GivenReason = Exclude<FailureReason, 'none'>;

function refund<More extends object>(
  { data, signature, slot }: EventOf<'JobFailed'> | EventOf<'JobRefunded'>,
  context: EventContext,
  more: More,
): Message<'job.timeout'>['data'] & More {
  const { model_id, tier } = jobOf(data, context);
  return {
    job_id: jobIdOf(data),
    model: model_id,
    tier,
    ...more,
    credits_refunded: creditsNumber(BigInt(data.returnedCredits)),
    refund_tx: signature,
    chain_slot: Number(slot),
    credits_remaining: creditsNumber(BigInt(data.availableCredits)),
  };
}

/** @throws FatalError for a job that was never locked, which folding rules out */
function jobOf({ job }: { job: string }, { jobs }: EventContext) {
  const found = jobs.get(job);
  if (!found) throw new FatalError(`The mirror does not know the job ${job}`);
  return found;
}

/** @param data.jobId as the journal keeps it: the UUID's bytes in hex */
function jobIdOf({ jobId }: { jobId: string }): string {
  return `job_${jobId}`;
}

/**
 * A worker as it is at the end of the transaction that registers it. Registration, stake and
 * hosting are separate instructions, and mostly travel together.
 */
function registeredWorker(
  { data, signature, slot }: EventOf<'WorkerRegistered'>,
  { events, modelIds }: EventContext,
): Message<'worker.registered'> {
  let { endpoint } = data;
  let stakeTokens = '0';
  const models = new Set<string>();
  for (const event of events) {
    const isOfWorker = 'worker' in event.data && event.data.worker === data.worker;
    if (event.signature !== signature || !isOfWorker) continue;
    switch (event.name) {
      case 'WorkerUpdated':
        endpoint = event.data.endpoint;
        break;
      case 'WorkerHosted':
        models.add(event.data.model);
        break;
      case 'WorkerUnhosted':
        models.delete(event.data.model);
        break;
      case 'StakeDeposited':
      case 'StakeUnlocked':
        stakeTokens = event.data.stakeTokens;
        break;
    }
  }
  return {
    wallet: null,
    data: {
      worker_address: data.worker,
      endpoint,
      // The address, while the mirror lacks the transaction that made the model.
      models: [...models].map((model) => modelIds.get(model) ?? model),
      stake_token: creditsNumber(BigInt(stakeTokens)),
      tx: signature,
      chain_slot: Number(slot),
    },
  };
}
