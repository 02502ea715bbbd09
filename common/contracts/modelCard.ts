import { z } from 'zod';
import { sha256Hash } from './values.ts';

const text = z.string().min(1).max(500);

/** What a worker promises to run under a model's id, as the ledger's `card_hash` pins it. */
export const modelCard = z.strictObject({
  source: text.describe('Where the weights are published.'),
  revision: text.describe('The commit or release there.'),
  weights_digest: sha256Hash
    .nullable()
    .describe(
      "The file's sha256. Of several files it is that of the canonical JSON of their digests by " +
        'name. Null of what has no weights.',
    ),
  quantization: text.describe('Such as `fp8`, or `none` for weights as they are published.'),
  tokenizer_digest: sha256Hash
    .nullable()
    .describe('Of `tokenizer.json`; null where nothing but the weights has it.'),
  chat_template_digest: sha256Hash
    .nullable()
    .describe("Of the template's text; null where nothing but the weights has it."),
  default_sampling: z
    .record(z.string().regex(/^[a-z][a-z0-9_]{0,49}$/), z.union([z.number(), z.boolean()]))
    .describe('What holds where a request names nothing else.'),
  licence: text.describe("As SPDX spells it, or the licence's own name."),
});

export type ModelCard = z.infer<typeof modelCard>;

/**
 * The card in a text of JSON.
 *
 * @throws RangeError naming the first field that is missing, unknown or malformed
 */
export function parseModelCard(json: string): ModelCard {
  let content: unknown;
  try {
    content = JSON.parse(json);
  } catch (error) {
    throw new RangeError(`it is no JSON: ${(error as Error).message}`, { cause: error });
  }
  const { success, data, error } = modelCard.safeParse(content);
  if (success) return data;
  const [issue] = error.issues;
  throw new RangeError(`${issue?.path.join('.') || 'the card'}: ${issue?.message}`);
}
