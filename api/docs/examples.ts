import { readFileSync } from 'node:fs';
import type { ModelCard } from '../../common/contracts/modelCard.ts';
import { bytesToHex } from '../../programs/client/platform/bytes.ts';
import { modelCardHash } from '../../programs/client/proof.ts';
import { API_VERSION, type EventKind } from '../../webhooks/events.ts';
import { EXAMPLE, webhookKinds } from '../../webhooks/kinds.ts';
import type { AccountObject } from '../contracts/account.ts';
import { SUPPORTED_PARAMETERS } from '../contracts/chatCompletion.ts';
import type {
  AnswerEvidence,
  ChatCompletion,
  ChatCompletionChunk,
} from '../contracts/completionAnswer.ts';
import type { ErrorJob } from '../contracts/errors.ts';
import type { DisputeAnswer, JobList, JobObject } from '../contracts/job.ts';
import { ENDPOINTS, type ModelList, type ModelObject } from '../contracts/network.ts';
import { createResponsesParser } from '../contracts/responses.ts';
import type { CompletionForm } from '../contracts/route.ts';
import { NO_PREVIEW } from '../contracts/tools.ts';
import type { CreatedWebhook, WebhookObject } from '../contracts/webhook.ts';
import { createResponsesFormat } from '../response/responsesFormat.ts';
import type { CodeSample } from './openApi.ts';

/** One job's life, which every example of the documentation follows. */

const { jobId, worker, escrowAddress, escrowTx, settlementTx, settledAt } = EXAMPLE;
const { disputeTx, workerHash, otherHash } = EXAMPLE;
const webhookId = 'wh_5f0c1f6f2d9a4f5b8c3e7a1d0b9e8f72';
const wallet = '8cCnPgHWg7JR4Dzw7mjmdDREhETtgoVr3ku91CY9A2YG';
const lockedAt = '2026-11-24T09:30:00.000Z';
const created = Date.parse(lockedAt) / 1_000;
const usage = { prompt_tokens: 14, completion_tokens: 6, total_tokens: 20 };

const evidence: AnswerEvidence = {
  job_id: jobId,
  worker,
  attempt: 1,
  credits_charged: 8,
  usdc_value: 0.08,
  output_hash: workerHash,
  request_salt: '5b3e9d1c7a6f48203e8d5c1b9a7f604e2d3c8b5a196f7e4d0c2b3a8f9e1d5c70',
  request_commitment: '0d4f6b7a91c2e85d3f6a7b8c9d0e1f2a3b4c5d6e7f8091a2b3c4d5e6f7081920',
  answer_details: '7e1c5a9b3d2f4860a1b2c3d4e5f60718293a4b5c6d7e8f90a1b2c3d4e5f60718',
  delivery_receipt: `${wallet}.${'A'.repeat(86)}`,
  escrow_tx: escrowTx,
  settlement_tx: settlementTx,
  verify_url: `https://api.example.com/verify/${jobId}#wallet=${wallet}`,
};
/** The job that an error after a lock names. */
export const jobOfError: ErrorJob = { job_id: jobId, verify_url: evidence.verify_url };

const completionUsage = {
  ...usage,
  cost: evidence.usdc_value,
  completion_tokens_details: { reasoning_tokens: 0 },
};

const card: ModelCard = {
  source: 'https://huggingface.co/Qwen/Qwen3-8B',
  revision: 'b968826d9c46dd6066d109eabc6255188de91218',
  weights_digest: workerHash,
  quantization: 'none',
  tokenizer_digest: otherHash,
  chat_template_digest: null,
  default_sampling: { temperature: 0.6, top_p: 0.95, top_k: 20 },
  licence: 'Apache-2.0',
};

const model: ModelObject = {
  id: EXAMPLE.model,
  object: 'model',
  created: 1_795_000_000,
  owned_by: 'Alibaba',
  svc: {
    tier: EXAMPLE.tier,
    credits_per_request: 8,
    credits_per_1k_tokens: 4,
    active_workers: 12,
    median_latency_ms: 310,
    parameters: '8B',
    context_window: 32_768,
    long_completion_threshold: 500,
    endpoints: [...ENDPOINTS],
    supported_parameters: [...SUPPORTED_PARAMETERS],
    retires_at: null,
    card_hash: `sha256:${bytesToHex(modelCardHash(card))}`,
    card,
  },
};

const job: JobObject = {
  id: jobId,
  object: 'job',
  status: 'settled',
  failure_reason: null,
  model: model.id,
  tier: model.svc.tier,
  credits_charged: 8,
  usdc_value: 0.08,
  worker_address: worker,
  created_at: lockedAt,
  completed_at: settledAt,
  on_chain: {
    escrow_tx: escrowTx,
    settlement_tx: settlementTx,
    refund_tx: null,
    escrow_pda: escrowAddress,
    slot: EXAMPLE.slot,
    proof_hash: workerHash,
  },
  usage,
  dispute: null,
  dispute_window_ends_at: '2026-11-24T09:31:02.000Z',
};

const webhook: WebhookObject = {
  id: webhookId,
  url: 'https://example.com/hooks/svc',
  events: ['job.completed', 'credit.low'],
  created_at: '2026-11-24T09:00:00.000Z',
  status: 'active',
};

const chunk = (
  choices: ChatCompletionChunk['choices'],
  svc?: AnswerEvidence,
): ChatCompletionChunk => ({
  id: `chatcmpl-${jobId}`,
  object: 'chat.completion.chunk',
  created,
  model: model.id,
  choices,
  ...(svc && { svc }),
});

const stream = [
  chunk([{ index: 0, delta: { role: 'assistant', content: '' }, finish_reason: null }]),
  chunk([{ index: 0, delta: { content: 'Hello!' }, finish_reason: null }]),
  chunk([{ index: 0, delta: {}, finish_reason: 'stop' }], { ...evidence, settlement_tx: null }),
];

const responsesRequest = { model: model.id, input: 'Say hello.', max_output_tokens: 100 };
const asked = createResponsesParser(NO_PREVIEW)(responsesRequest);
const responses = createResponsesFormat(asked.echo);
const identity = {
  ...{ jobId, wallet, modelId: model.id, created, escrowTx },
  requestSalt: evidence.request_salt,
};
const ended = {
  finishReason: 'stop' as const,
  isTruncated: false,
  completedAt: Date.parse(settledAt) / 1_000,
  usage: completionUsage,
  creditsCharged: evidence.credits_charged,
};
const said = { type: 'content', text: 'Hello!' } as const;

function exampleOfResponse(): object {
  const plain = responses.plain(identity);
  plain.write(said);
  return plain.bodyOf(ended, evidence);
}

function streamOfResponse(): string {
  const events = responses.stream(identity);
  const begun = events.begin() + events.write(said);
  return `${begun}${events.finish(ended, { ...evidence, settlement_tx: null })}data: [DONE]\n\n`;
}

/** Examples of what is sent and answered, by the name of their schema. */
export const examples = {
  ChatCompletionRequest: {
    model: model.id,
    messages: [{ role: 'user', content: 'Say hello.' }],
    max_tokens: 100,
  },
  ChatCompletion: {
    id: `chatcmpl-${jobId}`,
    object: 'chat.completion',
    created,
    model: model.id,
    choices: [
      { index: 0, message: { role: 'assistant', content: 'Hello!' }, finish_reason: 'stop' },
    ],
    usage: completionUsage,
    svc: evidence,
  } satisfies ChatCompletion,
  ResponsesRequest: responsesRequest,
  ResponseObject: exampleOfResponse(),
  Model: model,
  ModelList: { object: 'list', data: [model] } satisfies ModelList,
  Job: job,
  JobList: { object: 'list', data: [job], has_more: true, next_cursor: jobId } satisfies JobList,
  DisputeRequest: { received_output_hash: otherHash },
  DisputeAnswer: {
    job_id: jobId,
    dispute_opened: true,
    your_hash: otherHash,
    worker_hash: workerHash,
    dispute_tx: disputeTx,
    arbitration_window_hours: 24,
  } satisfies DisputeAnswer,
  Account: {
    wallet,
    credits_remaining: 9_992,
    usdc_value: 99.92,
    last_topup_at: '2026-11-20T12:00:00.000Z',
    api_key_created_at: '2026-11-20T12:05:00.000Z',
    charged_today_credits: 8,
    locked_now_credits: 0,
    limits: { per_job_credits: 400, per_day_credits: 10_000 },
  } satisfies AccountObject,
  WebhookRequest: { url: webhook.url, events: webhook.events },
  CreatedWebhook: {
    ...webhook,
    secret: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSwLcH0zT3sN1c=',
  } satisfies CreatedWebhook,
  WebhookList: { object: 'list', data: [webhook] },
  DeletedWebhook: { id: webhookId, object: 'webhook', deleted: true },
};

/** An event of a kind, as it is sent. */
export function eventExample(kind: EventKind) {
  return {
    id: 'evt_3c1b0a5e7d2f4b6890a1c2e3d4f5a6b7',
    event: kind,
    created_at: EXAMPLE.settledAt,
    api_version: API_VERSION,
    data: webhookKinds[kind].example,
  };
}

/** A stream of each format. */
export const streamExamples: Readonly<
  Record<CompletionForm, { description: string; example: string }>
> = {
  'chat completion': {
    description: 'Each event is a `ChatCompletionChunk`; the last one is `[DONE]`.',
    example: `${[...stream.map((data) => JSON.stringify(data)), '[DONE]']
      .map((data) => `data: ${data}\n\n`)
      .join('')}`,
  },
  response: {
    description: 'Each event has its `type`; the last ones are `response.completed` and `[DONE]`.',
    example: streamOfResponse(),
  },
};

const languages = [
  { lang: 'shell', label: 'curl', folder: 'curl', extension: 'sh' },
  { lang: 'python', label: 'Python', folder: 'python', extension: 'py' },
  { lang: 'typescript', label: 'TypeScript', folder: 'typescript', extension: 'ts' },
] as const;

/** Which of `examples/api` show an operation, by its id. */
const topics: Record<string, readonly string[]> = {
  createChatCompletion: ['completion', 'stream', 'idempotency', 'errors'],
  createResponse: ['responses'],
  listModels: ['models'],
  listJobs: ['job'],
  getJob: ['job'],
  disputeJob: ['dispute'],
  getAccount: ['job'],
  createWebhook: ['webhook'],
};

/**
 * The examples of one operation, by topic and language; none for an operation without any.
 *
 * @throws when a file is not there, so that no start hides it
 */
export function codeSamples(operationId: string): CodeSample[] {
  return (topics[operationId] ?? []).flatMap((topic) =>
    languages.map(({ lang, label, folder, extension }) => {
      const file = `../../examples/api/${folder}/${topic}.${extension}`;
      const source = readFileSync(new URL(file, import.meta.url), 'utf8');
      return { lang, label: `${label}: ${topic}`, source };
    }),
  );
}
