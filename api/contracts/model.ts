import { z } from 'zod';
import { modelCard } from '../../common/contracts/modelCard.ts';
import { TIERS } from '../../programs/client/generated/vocabulary.ts';
import { SUPPORTED_PARAMETERS } from './chatCompletion.ts';
import { listOf, sha256Hash, time, tokens, unixSeconds } from './values.ts';

/** A model with its price and its pool of workers. */
export const modelObject = z.object({
  id: z.string(),
  object: z.literal('model'),
  created: unixSeconds,
  owned_by: z.string().describe("The model's originator."),
  svc: z.object({
    tier: z.enum(TIERS),
    credits_per_request: z
      .int()
      .min(0)
      .describe('The charge for a completion of up to `long_completion_threshold` output tokens.'),
    credits_per_1k_tokens: z
      .int()
      .min(0)
      .describe('The charge per 1,000 of all output tokens of a longer completion, rounded up.'),
    active_workers: z.int().min(0).describe('Workers that host the model and answer at present.'),
    median_latency_ms: z
      .int()
      .min(0)
      .describe(
        'The p50 time to the first token over the pool. Our choice: of the last ten minutes, else ' +
          "of the ten before the last answer; before the first one, of its workers' start probes. " +
          '0 of a model that no worker ever hosted.',
      ),
    parameters: z.string().describe('The parameter count as a label, such as `8B`.'),
    context_window: tokens.describe('The most tokens that messages and answer have together.'),
    long_completion_threshold: tokens.describe(
      'Our choice: the most output tokens for which `credits_per_request` is the charge.',
    ),
    supported_parameters: z
      .array(z.enum(SUPPORTED_PARAMETERS))
      .describe('Our choice: the fields of a completion that the model server is given.'),
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
