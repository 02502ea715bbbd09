import { z } from 'zod';
import { modelCard } from '../../common/contracts/modelCard.ts';
import { TOOL_FIELDS } from '../../common/workerProtocol.ts';
import { TIERS, WORKER_STATUSES } from '../../programs/client/generated/vocabulary.ts';
import { SUPPORTED_PARAMETERS } from './chatCompletion.ts';
import { route } from './route.ts';
import {
  amountText,
  count,
  credits,
  jobId,
  ledgerAddress,
  listOf,
  sha256Hash,
  slot,
  time,
  timeNullable,
  tokens,
  transactionSignature,
  unixSeconds,
} from './values.ts';

/** Where a model is asked, in each of the formats. */
export const ENDPOINTS = ['/v1/chat/completions', '/v1/responses'] as const;

/** A model with its price and its pool of workers. */
export const modelObject = z.object({
  id: z.string(),
  object: z.literal('model'),
  created: unixSeconds,
  owned_by: z.string().describe("The model's originator."),
  svc: z.object({
    tier: z.enum(TIERS),
    credits_per_request: count.describe(
      'The charge for a completion of up to `long_completion_threshold` output tokens.',
    ),
    credits_per_1k_tokens: count.describe(
      'The charge per 1,000 of all output tokens of a longer completion, rounded up.',
    ),
    active_workers: count.describe('Workers that host the model and answer at present.'),
    median_latency_ms: count.describe(
      'The p50 time to the first token over the pool. Our choice: of the last ten minutes, else ' +
        "of the ten before the last answer; before the first one, of its workers' start probes. " +
        '0 of a model that no worker ever hosted.',
    ),
    parameters: z.string().describe('The parameter count as a label, such as `8B`.'),
    context_window: tokens.describe('The most tokens that messages and answer have together.'),
    long_completion_threshold: tokens.describe(
      'Our choice: the most output tokens for which `credits_per_request` is the charge.',
    ),
    endpoints: z.array(z.enum(ENDPOINTS)).describe('Our choice: where the model can be asked.'),
    supported_parameters: z
      .array(
        z
          .enum([...SUPPORTED_PARAMETERS, ...TOOL_FIELDS])
          .meta({ withoutTools: { enum: SUPPORTED_PARAMETERS } }),
      )
      .describe(
        'Our choice: the fields of a completion that the model server is given. `response_format` is ' +
          'among them while a worker of the model is active whose trial kept it.',
      ),
    retires_at: time
      .nullable()
      .describe(
        'Our choice: until then the model works; set at least 30 days ahead, null if never.',
      ),
    card_hash: sha256Hash
      .nullable()
      .describe(
        "Our choice: the sha256 of the card's canonical JSON, as the ledger pins it; null where it " +
          'pins none.',
      ),
    card: modelCard
      .nullable()
      .describe(
        'Our choice: the card of `card_hash`; null where this service has none. It says what a ' +
          'worker promises to run, and not what runs.',
      ),
  }),
});

export type ModelObject = z.infer<typeof modelObject>;

export const modelList = listOf(modelObject, 'Models that at least one worker hosts.');

export type ModelList = z.infer<typeof modelList>;

const networkNumbers = z.object({
  models: count.describe('That a worker hosts at present.'),
  workers: count.describe('That answer at present.'),
  jobs_settled_24h: count,
  credits_charged_24h: credits,
  first_token_p50_ms: count.nullable().describe('Of the last ten minutes.'),
  as_of: time,
});

const milliseconds = count.nullable();

const consoleModel = modelObject.extend({
  first_token_p95_ms: milliseconds.describe('Over 24 hours; null while nothing was observed.'),
  jobs_24h: count,
});

export type ConsoleModel = z.infer<typeof consoleModel>;

const consoleModelList = listOf(
  consoleModel,
  'Every one of the catalog, hosted at present or not.',
);

export type ConsoleModelList = z.infer<typeof consoleModelList>;

const consoleWorker = z.object({
  address: ledgerAddress,
  authority: ledgerAddress,
  endpoint: z.string().describe("The worker's own text."),
  status: z.enum(WORKER_STATUSES),
  is_answering: z.boolean().describe('Whether it answered a probe in the last 30 s.'),
  models: z.array(z.string()).describe('Ids of the models it hosts.'),
  stake_tokens: amountText.describe('Whole tokens.'),
  unstaking_tokens: amountText,
  unstake_ready_at: timeNullable,
  jobs_settled: count,
  registered_at: time,
  first_token_p50_ms: milliseconds.describe('Over 24 hours.'),
  first_token_p95_ms: milliseconds,
  uptime_24h: z.number().min(0).max(1).nullable().describe('Of probes; null without any.'),
});

export type ConsoleWorker = z.infer<typeof consoleWorker>;

const consoleWorkerList = listOf(consoleWorker, 'By settled jobs.').extend({
  stake_decimals: count,
  minimum_stake_tokens: amountText,
});

/** In an hour or a day. */
const measured = z.object({
  probes: count,
  answered: count,
  failures: count.describe("Attempts that failed by the worker's own fault."),
  first_token_p50_ms: milliseconds,
});
const period = measured.extend({
  first_token_p95_ms: milliseconds,
  jobs: count.describe('That brought a first token.'),
});

const workerDetail = consoleWorker.extend({
  payout: ledgerAddress,
  proof_key: ledgerAddress,
  stake_decimals: count,
  hours: z
    .array(period.extend({ hour: time }))
    .describe('Those of the last 90 days in which it was probed.'),
  slashes: z.array(
    z.object({
      at: time,
      stake_tokens: amountText,
      job_id: jobId.nullable(),
      tx: transactionSignature,
    }),
  ),
});

export type WorkerDetail = z.infer<typeof workerDetail>;

const modelDetail = consoleModel.extend({
  days: z
    .array(period.extend({ day: z.iso.date() }))
    .describe('The last 90 days, oldest first. Probes are of the workers that host it now.'),
  workers: z
    .array(consoleWorker)
    .describe('Those that host it, with the first tokens of this model.'),
});

export type ModelDetail = z.infer<typeof modelDetail>;

const statusHistory = z.object({
  days: z
    .array(
      z.object({
        day: z.iso.date(),
        minutes: count.describe('That were recorded.'),
        away: z.record(z.string(), z.int().min(1)).describe('Of those, by part.'),
      }),
    )
    .describe('The last 90 days, oldest first.'),
  incidents: z
    .array(
      z.object({
        part: z
          .string()
          .describe('`api` where nothing was recorded: every API, or the database, was away.'),
        began_at: time,
        ended_at: timeNullable.describe('Null while it lasts.'),
      }),
    )
    .describe('Minutes in a row in which a part was away for every API. The newest 50 first.'),
});

const partState = z.enum(['ok', 'away']);

const statusAnswer = z.object({
  is_ready: z.boolean(),
  parts: z.object({
    database: partState,
    ledger: partState,
    program: partState,
    gateway: partState,
    signer: partState,
    fee_payers: partState,
    catalog: partState,
    workers: partState,
    mirror: z
      .enum(['ok', 'away', 'unknown'])
      .describe(
        '`away` while it is made, or lacks what is 30 s old; `unknown` until that is known.',
      ),
  }),
  mirror: z.object({
    slot: slot.nullable(),
    newest_slot: slot.nullable().describe("That of the program's newest transaction."),
    lag_slots: count.nullable().describe('What the mirror lacks up to it.'),
  }),
  queues: z
    .object({
      running_jobs: count,
      webhook_deliveries_due: count,
      open_disputes: count,
    })
    .nullable()
    .describe('Null while the database or the mirror is away, as `days` and `history` are.'),
  days: z
    .array(measured.extend({ day: z.iso.date() }))
    .nullable()
    .describe('The last 90 days, oldest first; days without a probe are left out.'),
  history: statusHistory.nullable().describe('Of what APIs record once a minute.'),
  as_of: time,
});

export type StatusAnswer = z.infer<typeof statusAnswer>;

export const modelRoutes = {
  listModels: route('GET', '/models', ['key', 'public'], {
    summary: 'the catalog with prices, workers and latencies',
    answer: modelList,
    pageAnswer: consoleModelList,
    docs: {
      tag: 'Models',
      summary: 'List the models',
      description: 'The models that at least one worker hosts, with their prices.',
    },
  }),
  getModel: route('GET', '/models/:model_id', ['key', 'public'], {
    summary: 'one with its days and workers',
    answer: modelObject,
    pageAnswer: modelDetail,
    docs: {
      tag: 'Models',
      summary: 'Show a model',
      description:
        'Our choice: a model without workers is shown too, with `active_workers` 0. An unknown one ' +
        'is a 404 here.',
      pathParameters: { model_id: 'The id of a model.' },
      errors: ['model_not_found'],
    },
  }),
};

export const networkRoutes = {
  getNetwork: route('GET', '/network', ['public'], {
    summary: 'live numbers',
    answer: networkNumbers,
  }),
  getWorkers: route('GET', '/workers', ['public'], {
    summary: 'every registered worker',
    answer: consoleWorkerList,
  }),
  getWorker: route('GET', '/workers/:worker', ['public'], {
    summary: 'one with its hours and slashes',
    answer: workerDetail,
  }),
  getStatus: route('GET', '/status', ['public'], {
    summary: 'parts, mirror lag, queues, 90 days, incidents',
    answer: statusAnswer,
  }),
};
