import {
  affordableTokens,
  freeTokenLimit,
  lockCredits,
  type Price,
} from '../../programs/client/pricing.ts';
import { creditsNumber } from '../../runtime/jsonForms.ts';
import { estimatePromptTokens } from '../../runtime/tokens.ts';
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
export function quote(model: ModelRow, request: ChatCompletionRequest): Quote {
  const promptTokens = estimatePromptTokens(request.messages);
  const room = model.context_window_tokens - promptTokens;
  if (room < 1) {
    throw new ApiError(
      'context_length_exceeded',
      `The messages hold at least ${promptTokens} tokens; the context window of ${model.id} has ` +
        `${model.context_window_tokens}.`,
      {
        param: 'messages',
        details: { prompt_tokens: promptTokens, context_window: model.context_window_tokens },
      },
    );
  }
  const price = priceOf(model);
  const tokenLimit = Math.min(wantedTokens(request) ?? freeTokenLimit(price), room);
  return { model, tokenLimit, lockCredits: lockCredits(price, tokenLimit) };
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

function priceOf(model: ModelRow): Price {
  return {
    creditsPerRequest: model.credits_per_request,
    creditsPer1kTokens: model.credits_per_1k_tokens,
    longCompletionThresholdTokens: model.long_completion_threshold_tokens,
  };
}
