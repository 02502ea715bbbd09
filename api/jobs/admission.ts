import { promptTexts, type TokenCounts } from '../../common/tokenizers/tokenCounts.ts';
import { PASSED_FIELDS, TOOL_FIELDS } from '../../common/workerProtocol.ts';
import { freeTokenLimit, lockCredits } from '../../programs/client/pricing.ts';
import { LedgerUnavailableError } from '../../programs/client/sender/sendResult.ts';
import type { ChatCompletionRequest } from '../contracts/chatCompletion.ts';
import { ApiError, ClientLeftError, serviceUnavailable } from '../contracts/errors.ts';
import { aboveOwnLimit } from '../contracts/walletErrors.ts';
import type { Escrow } from '../ledger/escrow.ts';
import { type JobDraft, type LockedJob, PriceChangedError, type Quote } from '../ledger/job.ts';
import { fittingTokens, lockObstacle } from '../ledger/lockOnLedger.ts';
import { unknownModel } from '../models/unknownModel.ts';
import type { Funds, Payer } from '../sql/accounts.ts';
import { type ModelRow, priceOf } from '../sql/workers.ts';
import type { Reservation } from '../workers/capacity.ts';
import type { WorkerChat } from '../workers/client.ts';
import type { WorkerDirectory } from '../workers/directory.ts';
import { type Catalog, isRetired } from './catalog.ts';

export interface AdmissionServices {
  catalog: Catalog;
  directory: WorkerDirectory;
  escrow: Escrow;
  tokens: TokenCounts;
  nowSeconds: () => bigint;
}

/** A request whose credits are locked and whose first worker is reserved. */
export interface Admitted {
  job: LockedJob;
  reservation: Reservation;
}

/** How long a request may wait for a worker's capacity before it is refused. */
const CAPACITY_WAIT_MS = 2_000;

/**
 * Everything that can refuse a request, in the order in which its errors are promised; then the lock.
 * Nothing is locked for a request that could have been refused before.
 *
 * @throws ApiError; of these LockUndecidedError alone leaves open whether there is a job
 * @throws ClientLeftError
 * @throws LedgerUnavailableError, which leaves it open too
 */
export async function admit(
  services: AdmissionServices,
  options: {
    payer: Payer;
    request: ChatCompletionRequest;
    draft: JobDraft;
    clientGone: AbortSignal;
    /** Called each time a lock was sent, with the worker that is to have its job first. */
    onLockSent: (reservation: Reservation, quoted: Quote) => void;
  },
): Promise<Admitted> {
  const { directory } = services;
  const { payer, request, draft, clientGone } = options;
  const quoted = await quoteWithin(services, request);
  const toolsOf = request.tools && quoted.model.id;
  assertAffordable(quoted, payer, services.nowSeconds());
  const reservation = await directory.reserve({
    modelAddress: quoted.model.address,
    except: new Set(),
    toolsOf,
    waitMs: CAPACITY_WAIT_MS,
    signal: clientGone,
  });
  if (!reservation)
    throw clientGone.aborted ? new ClientLeftError() : noWorkers(directory, quoted.model, toolsOf);
  try {
    const lock = (now: Quote): Promise<LockedJob> =>
      services.escrow.lock(payer, now, draft, () => options.onLockSent(reservation, now));
    const job = await lock(quoted).catch((error) =>
      lockRequoted(services, { request, lock, error }),
    );
    return { reservation, job };
  } catch (error) {
    reservation.release();
    throw error;
  }
}

/** The lock was refused, or never sent: the ledger was out of reach before. */
export function hasLockedNothing(error: unknown): boolean {
  if (error instanceof LedgerUnavailableError) return error.signature === null;
  return error instanceof ApiError || error instanceof ClientLeftError;
}

/** The quote, where it is not above the request's own ceiling. @throws ApiError */
async function quoteWithin(services: AdmissionServices, request: ChatCompletionRequest) {
  const quoted = await quote(findModel(services, request.model), request, services.tokens);
  const { max_credits } = request;
  if (max_credits === undefined || quoted.lockCredits <= BigInt(max_credits)) return quoted;
  throw aboveOwnLimit(quoted.lockCredits, max_credits, fittingTokens(quoted, BigInt(max_credits)));
}

function findModel(services: AdmissionServices, modelId: string): ModelRow {
  const model = services.catalog.find(modelId);
  if (model && !isRetired(model, services.nowSeconds())) return model;
  const usable = services.catalog.list().filter((one) => !isRetired(one, services.nowSeconds()));
  throw unknownModel(modelId, usable, { param: 'model' });
}

/**
 * @throws ApiError `context_length_exceeded` when the messages leave no room for an answer
 */
export async function quote(
  model: ModelRow,
  request: ChatCompletionRequest,
  tokens: Pick<TokenCounts, 'prompt'>,
): Promise<Quote> {
  const price = priceOf(model);
  const wanted = wantedTokens(request) ?? freeTokenLimit(price);
  const tokenLimit = fitsAnyhow(model, request, wanted)
    ? wanted
    : Math.min(wanted, await roomForAnswer(model, request, tokens));
  return { model, tokenLimit, lockCredits: lockCredits(price, tokenLimit) };
}

/** The most tokens the client wants, or undefined when it left that to the service. */
export function wantedTokens(request: ChatCompletionRequest): number | undefined {
  return request.max_tokens ?? request.max_completion_tokens;
}

/** Most prompts have fewer bytes than the window leaves tokens, and need not be counted. */
function fitsAnyhow(model: ModelRow, request: ChatCompletionRequest, wanted: number): boolean {
  const texts = promptTexts(request);
  const bytes = texts.reduce((sum, { content }) => sum + Buffer.byteLength(content), 0);
  return bytes + wanted <= model.context_window_tokens;
}

async function roomForAnswer(
  { id, context_window_tokens }: ModelRow,
  request: ChatCompletionRequest,
  tokens: Pick<TokenCounts, 'prompt'>,
): Promise<number> {
  const promptTokens = await tokens.prompt(id, leastPrompt(request));
  if (promptTokens < context_window_tokens) return context_window_tokens - promptTokens;
  throw new ApiError(
    'context_length_exceeded',
    `The messages hold at least ${promptTokens} tokens; the context window of ${id} has ` +
      `${context_window_tokens}.`,
    {
      param: 'messages',
      details: { prompt_tokens_at_least: promptTokens, context_window: context_window_tokens },
    },
  );
}

/**
 * The early, friendly check. Concurrent requests of one wallet pass it together, and the lock on the
 * ledger then refuses those for which too little is left.
 *
 * @throws ApiError `insufficient_credits`, else `spending_limit_exceeded`
 */
export function assertAffordable(quoted: Quote, funds: Funds, nowSeconds: bigint): void {
  const obstacle = lockObstacle(quoted, funds, nowSeconds);
  if (obstacle) throw obstacle;
}

function noWorkers(
  directory: WorkerDirectory,
  { id, address }: ModelRow,
  toolsOf: string | undefined,
): ApiError {
  const isBusy = directory.active(address, toolsOf).length > 0;
  const retryAfterSeconds = directory.retryAfterSeconds(address, toolsOf);
  const reason = directory.unreadyReason(address);
  const those = toolsOf === undefined ? id : `${id} that calls tools`;
  const away = `No worker of ${those} can be reached.${reason ? ` One here says: ${reason}.` : ''}`;
  return new ApiError(
    'no_workers_available',
    isBusy ? `All workers of ${those.replace('calls', 'call')} are busy.` : away,
    { retryAfterSeconds, details: { model: id, retry_after: retryAfterSeconds } },
  );
}

/** Quotes once more when the price has changed since. @throws the lock's error where it has not */
async function lockRequoted(
  services: AdmissionServices,
  options: {
    request: ChatCompletionRequest;
    lock: (quoted: Quote) => Promise<LockedJob>;
    error: unknown;
  },
): Promise<LockedJob> {
  const { request, lock } = options;
  if (!(options.error instanceof PriceChangedError)) throw options.error;
  await services.catalog.refresh();
  try {
    return await lock(await quoteWithin(services, request));
  } catch (error) {
    if (!(error instanceof PriceChangedError)) throw error;
    throw serviceUnavailable('The price is changing; try again.', error);
  }
}

/** What an engine needs of the request; limits and streaming are the protocol's. */
export function chatForWorker(request: ChatCompletionRequest): WorkerChat {
  // Without tools, what is said of them means nothing.
  const fields = request.tools ? [...PASSED_FIELDS, ...TOOL_FIELDS] : PASSED_FIELDS;
  const passed = fields.map((field) => [field, request[field]]);
  return {
    model: request.model,
    messages: request.messages,
    ...Object.fromEntries(passed),
  };
}

/** What of a request its model reads. */
type Asked = Pick<ChatCompletionRequest, 'messages' | 'tools'>;
type Message = Asked['messages'][number];

/**
 * What every chat template keeps of it. Some write schemas in a language of their own, and arguments
 * as the values that they hold: then neither has its JSON's tokens.
 */
export function leastPrompt({ messages, tools = [] }: Asked): { role: string; content: string }[] {
  const offered = tools.flatMap(({ function: { name, description } }) => [name, description ?? '']);
  return [
    ...offered.map((content) => ({ role: 'system', content })),
    ...messages.flatMap(({ role, content, tool_calls = [] }) => [
      { role, content },
      ...tool_calls.flatMap(leastOfCall).map((said) => ({ role: 'assistant', content: said })),
    ]),
  ];
}

function leastOfCall({ function: called }: NonNullable<Message['tool_calls']>[number]): string[] {
  return [called.name, ...textsOf(parsed(called.arguments))];
}

/** A model may have written no JSON. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

function textsOf(value: unknown): string[] {
  if (typeof value === 'string') return [value];
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(textsOf) : [];
}
