import {
  affordableTokens,
  freeTokenLimit,
  lockCredits,
  type Price,
} from '../../programs/client/pricing.ts';
import { creditsNumber } from '../../runtime/jsonForms.ts';
import type { TokenCounts } from '../../runtime/tokenizers/tokenCounts.ts';
import { type ChatCompletionRequest, wantedTokens } from '../contracts/chatCompletion.ts';
import { ApiError } from '../errors.ts';
import type { ModelRow } from '../statements/models.ts';

/** What a request may cost at most, at the model's present price. */
export interface Quote {
  model: ModelRow;
  /** The most output tokens the worker may produce. */
  tokenLimit: number;
  lockCredits: bigint;
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

/** Most prompts have fewer bytes than the window leaves tokens, and need not be counted. */
function fitsAnyhow(model: ModelRow, request: ChatCompletionRequest, wanted: number): boolean {
  const bytes = request.messages.reduce((sum, { content }) => sum + Buffer.byteLength(content), 0);
  return bytes + wanted <= model.context_window_tokens;
}

async function roomForAnswer(
  { id, context_window_tokens }: ModelRow,
  { messages }: ChatCompletionRequest,
  tokens: Pick<TokenCounts, 'prompt'>,
): Promise<number> {
  const promptTokens = await tokens.prompt(id, messages);
  if (promptTokens < context_window_tokens) return context_window_tokens - promptTokens;
  throw new ApiError(
    'context_length_exceeded',
    `The messages hold at least ${promptTokens} tokens; the context window of ${id} has ` +
      `${context_window_tokens}.`,
    {
      param: 'messages',
      details: { prompt_tokens: promptTokens, context_window: context_window_tokens },
    },
  );
}

/**
 * The early, friendly check. The lock on the ledger is the one that counts: concurrent requests of
 * one wallet pass this together and are told apart there.
 *
 * @throws ApiError `insufficient_credits`
 */
export function assertAffordable(quoted: Quote, availableCredits: bigint): void {
  if (availableCredits < quoted.lockCredits) throw insufficientCredits(quoted, availableCredits);
}

export function insufficientCredits(quoted: Quote, availableCredits: bigint): ApiError {
  const { model } = quoted;
  return new ApiError(
    'insufficient_credits',
    `This request has to lock ${quoted.lockCredits} credits and ${availableCredits} are available.`,
    {
      details: {
        credits_remaining: creditsNumber(availableCredits),
        credits_required: creditsNumber(quoted.lockCredits),
        tier: model.tier,
        affordable_max_tokens: Math.min(
          affordableTokens(priceOf(model), availableCredits),
          model.context_window_tokens,
        ),
      },
    },
  );
}

/** What the model charges now. */
export function priceOf(model: ModelRow): Price {
  return {
    creditsPerRequest: model.credits_per_request,
    creditsPer1kTokens: model.credits_per_1k_tokens,
    longCompletionThresholdTokens: model.long_completion_threshold_tokens,
  };
}
