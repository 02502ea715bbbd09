import { z } from 'zod';
import * as values from '../common/contracts/values.ts';
import { FAILURE_REASONS, TIERS } from '../programs/client/generated/vocabulary.ts';

// The one place where a kind of event is described. The API's contract reads it. From it
// bin/webhookEvents.ts makes the receivers' types, the web app's labels and the table of
// docs/webhooks.md. The package for receivers does not contain this file, and so needs no zod.

/** What an event says in one field, with an example of it. */
interface Field<Schema extends z.ZodType = z.ZodType> {
  readonly schema: Schema;
  readonly example: z.infer<Schema>;
}

type Fields = Readonly<Record<string, Field>>;
type Shape<Of extends Fields> = { [Name in keyof Of]: Of[Name]['schema'] };

/** One kind of event. */
interface Kind<Of extends Fields = Fields> {
  /** What has happened, in one sentence. */
  readonly meaning: string;
  /** What this service adds to the interface's meaning. */
  readonly choice?: string;
  /** Whether this service has added the kind itself to the interface's. */
  readonly isOurs?: true;
  readonly data: z.ZodObject<Shape<Of>>;
  readonly example: { [Name in keyof Of]: Of[Name]['example'] };
}

function kind<Of extends Fields>(
  meaning: string,
  fields: Of,
  more: Pick<Kind, 'choice' | 'isOurs'> = {},
): Kind<Of> {
  const each = <Part extends keyof Field>(part: Part) =>
    Object.fromEntries(Object.entries(fields).map(([name, field]) => [name, field[part]]));
  return {
    ...{ meaning, ...more },
    data: z.object(each('schema') as Shape<Of>),
    example: each('example') as Kind<Of>['example'],
  };
}

const field = <Schema extends z.ZodType>(
  schema: Schema,
  example: z.infer<Schema>,
): Field<Schema> => ({ schema, example });

/** The job whose life every example shows, in the API's reference too. */
export const EXAMPLE = {
  jobId: 'job_019a9fd1c3b47c1e8f3a5d2b6c7e9f01',
  model: 'qwen3-8b',
  tier: 'standard',
  slot: 312_480_155,
  worker: '5ZaK7XsmTsSzANbCrJERAxDzZqtdysVLGKo5dBiZ76AQ',
  escrowAddress: '7N6SsTeruR4c9b8sj1vuhXMMDiNAjzxKP14WQuHqhh6x',
  escrowTx:
    '2oYLVuwsEUk4VhEwosWuvajAhM6ZvaFFJ3VK6cbhb33mG7mHhAvTNZL4znmuMNGAc5HqPM2SB77QRxgnzGeMDL5A',
  settlementTx:
    '63dTxBEkoD48zMVhBEexVWiNv5akzUaik9scAyL8fxtHvvbi9iaYJEFLCQfEZADRKwh1oRy9VKktBqerJhnwqAiN',
  disputeTx:
    '22pfPsjKJmoFVpihEhfDVBW2MjY4CiGCnbKF6yKt7UQ7AyP77xW9uyzaesA8x9zKVPFyV4CbMcBjGXN4P5D7MENz',
  workerHash: 'sha256:334d016f755cd6dc58c53a86e183882f8ec14f52fb05345887c8a5edd42c87b7',
  otherHash: 'sha256:0da72197e898ebe1814471a76048ed137a089f595c1e7038f2b70e98645e7652',
  settledAt: '2026-11-24T09:30:02.000Z',
} as const;

const refundTx =
  '2htwqarwqYduxSL7NiuyLejNvQFGgms62UdPaaDTPEjZbcoh5pv8Xc4WxbeXTgMTx8B58Ugkw7aq6LBWxkDazuwh';
const topupTx =
  'vFMSLvaDNnMYfRf1KfyNuVFsEA579LaDP8AZ4b2ik9HhBBsEfmx562R8XFT1Cv4Ck19vmG64qTeZih9h8CpCf6d';

const job_id = field(values.jobId, EXAMPLE.jobId);
const model = field(z.string(), EXAMPLE.model);
const tier = field(z.enum(TIERS), EXAMPLE.tier);
const worker_address = field(values.ledgerAddress, EXAMPLE.worker);
const chain_slot = field(values.slot, EXAMPLE.slot);
const credits = (example: number) => field(values.credits, example);
const tokens = (example: number) => field(values.tokens, example);
const usdc = (example: number) => field(values.usdc, example);
const tx = (example: string) => field(values.transactionSignature, example);
const hash = (example: string) => field(values.sha256Hash, example);
const creditsRemaining = (example: number) =>
  field(values.credits.describe('The available balance right after the event.'), example);

const refundedJob = {
  ...{ job_id, model, tier },
  credits_refunded: credits(8),
  refund_tx: tx(refundTx),
  chain_slot,
  credits_remaining: creditsRemaining(10_000),
};

/** Every kind of event that a webhook can subscribe to, in the order that is published. */
export const webhookKinds = {
  'job.submitted': kind('A job was created and its credits are locked.', {
    ...{ job_id, model, tier },
    credits_locked: credits(8),
    escrow_tx: tx(EXAMPLE.escrowTx),
    escrow_pda: field(values.ledgerAddress, EXAMPLE.escrowAddress),
    chain_slot,
    credits_remaining: creditsRemaining(9_992),
  }),
  'job.processing': kind(
    'A worker acknowledged the job.',
    { job_id, model, worker_address, tx: tx(EXAMPLE.settlementTx), chain_slot },
    { choice: 'Again when another worker takes over.' },
  ),
  'job.completed': kind('The job settled on the ledger and the worker is paid.', {
    ...{ job_id, model, tier },
    credits_charged: credits(8),
    usdc_value: usdc(0.08),
    worker_address,
    settlement_tx: tx(EXAMPLE.settlementTx),
    chain_slot,
    prompt_tokens: tokens(14),
    completion_tokens: tokens(6),
    credits_remaining: creditsRemaining(9_992),
  }),
  'job.failed': kind('The job failed before its completion; its credits are back.', {
    ...refundedJob,
    reason: field(
      z
        .enum(FAILURE_REASONS)
        .exclude(['none'])
        .describe(
          "`empty_output`: no text, also where the request's own `stop` or limit left none.",
        ),
      'proof_missing',
    ),
  }),
  'job.timeout': kind(
    'No worker completed the job within 120 s; its credits are back.',
    refundedJob,
  ),
  'job.disputed': kind('A dispute was opened.', {
    job_id,
    your_hash: hash(EXAMPLE.otherHash),
    worker_hash: hash(EXAMPLE.workerHash),
    dispute_tx: tx(EXAMPLE.disputeTx),
    chain_slot,
    arbitration_ends_at: field(values.time, '2026-11-25T09:30:30.000Z'),
  }),
  'job.dispute_resolved': kind(
    'A dispute was upheld or rejected, or expired without a verdict.',
    {
      job_id,
      outcome: field(z.enum(['upheld', 'rejected', 'expired']), 'upheld'),
      credits_returned: field(
        values.credits.describe('What the verdict gives back of the charge.'),
        8,
      ),
      resolution_tx: tx(refundTx),
      chain_slot,
    },
    { isOurs: true },
  ),
  'credit.low': kind(
    'The balance fell below the threshold, 100 credits unless you set another.',
    {
      credits_remaining: creditsRemaining(92),
      usdc_value: usdc(0.92),
      threshold: credits(100),
    },
    {
      choice:
        'Available and locked credits count together. It fires once, until a purchase or a repaid ' +
        'dispute reaches the threshold again.',
    },
  ),
  'credit.topup': kind('Credits were added.', {
    credits_added: credits(10_000),
    credits_remaining: creditsRemaining(10_092),
    usdc_value: usdc(100.92),
    tx: tx(topupTx),
    chain_slot,
  }),
  'worker.registered': kind('A worker registered.', {
    worker_address,
    endpoint: field(z.string(), 'https://worker.example.com'),
    models: field(z.array(z.string()), [EXAMPLE.model]),
    stake_token: field(z.int().min(0), 1_000),
    tx: tx(topupTx),
    chain_slot,
  }),
  'worker.slashed': kind('A worker lost stake for a fraudulent proof.', {
    worker_address,
    slash_amount_token: field(z.int().min(0), 500),
    slash_tx: tx(refundTx),
    reason: field(z.string().describe('Such as `fraudulent_proof`.'), 'fraudulent_proof'),
    related_job_id: job_id,
  }),
};

/** What is delivered. The kind decides what `event` and `data` are. */
export const envelope = z.object({
  id: z.string().regex(/^evt_/).describe('The same at each attempt: drop what you have seen.'),
  event: z.string(),
  test: z
    .literal(true)
    .optional()
    .describe('Our choice: only of a test or a triggered event, which did not happen.'),
  created_at: values.time.describe("The ledger's time of the event."),
  api_version: z.iso
    .date()
    .describe('The form of `data`. Our choice: pinned when the webhook is created.'),
  data: z.object({}),
});
