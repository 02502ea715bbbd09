import { z } from 'zod';
import { tryDecodeBase58 } from '../../../programs/client/keys.ts';
import { SIGNATURE_BYTES } from '../../../programs/client/wire/index.ts';
import { BLOCK_COMMITMENTS } from '../../bank/chain.ts';
import { ADDRESS_BYTES } from '../../runtime/runtime.ts';

// Parameters of methods. All bytes for the runtime are decoded and measured here.

const BASE58_CHARACTERS_MAX = 90;

function base58(bytes: number, what: string) {
  return z
    .string()
    .max(BASE58_CHARACTERS_MAX)
    .transform((text, context) => {
      const decoded = tryDecodeBase58(text);
      if (decoded?.length === bytes) return { text, decoded };
      context.addIssue({ code: 'custom', message: `is no ${what}: ${bytes} bytes in base58` });
      return z.NEVER;
    });
}

export const address = base58(ADDRESS_BYTES, 'address').transform(({ decoded }) => decoded);
export const blockhash = base58(ADDRESS_BYTES, 'blockhash').transform(({ decoded }) => decoded);
const anySignature = base58(SIGNATURE_BYTES, 'signature');
export const signature = anySignature.transform(({ decoded }) => decoded);
export const signatureText = anySignature.transform(({ text }) => text);

const count = z.int().nonnegative();
export const slot = count;
/** Lamports, bytes and base units: whole numbers that a double holds exactly. */
export const amount = count;

export const commitment = z.enum(['processed', ...BLOCK_COMMITMENTS]);

/** Clients send null for omitted parameters. */
export function optional<Schema extends z.ZodType>(schema: Schema) {
  return schema.nullish().transform((value) => value ?? undefined);
}

/** A configuration, which may be omitted as a whole. */
export function config<Fields extends z.ZodRawShape>(schema: z.ZodObject<Fields>) {
  return schema.nullish().transform((value) => value ?? schema.parse({}));
}

const shared = { commitment: optional(commitment), minContextSlot: optional(slot) };
export const reading = config(z.object(shared));

const accountEncoding = z.enum(['binary', 'base58', 'base64', 'base64+zstd', 'jsonParsed']);
const dataSlice = z.object({ offset: count, length: count });
const accountShape = { encoding: optional(accountEncoding), dataSlice: optional(dataSlice) };
export const accountReading = config(z.object({ ...shared, ...accountShape }));
export type AccountShape = z.output<typeof accountReading>;

const memcmp = z.object({
  offset: count,
  bytes: z.union([z.string(), z.array(z.int().min(0).max(255))]),
  encoding: optional(z.enum(['base58', 'base64', 'bytes'])),
});
const filter = z.union([
  z.object({ memcmp }),
  z.object({ dataSize: count }),
  z.object({ tokenAccountState: z.null() }),
]);
export type AccountFilter = z.output<typeof filter>;
const FILTERS_MAX = 4;
export const programReading = config(
  z.object({
    ...shared,
    ...accountShape,
    filters: optional(z.array(filter).max(FILTERS_MAX)),
    withContext: optional(z.boolean()),
    sortResults: optional(z.boolean()),
  }),
);

const transactionEncoding = z.enum(['json', 'jsonParsed', 'base64', 'base58']);
export type TransactionEncoding = z.output<typeof transactionEncoding>;

/** Blocks and transactions are returned only once they are confirmed. */
export const storedCommitment = z.enum(BLOCK_COMMITMENTS);
export const storedReading = config(
  z.object({ ...shared, commitment: optional(storedCommitment) }),
);

const transactionShape = z.object({
  encoding: optional(transactionEncoding),
  commitment: optional(storedCommitment),
  /** A byte, as clusters' nodes take it. */
  maxSupportedTransactionVersion: optional(count.max(0xff)),
  transactionDetails: optional(z.enum(['full', 'accounts', 'signatures', 'none'])),
  rewards: optional(z.boolean()),
});

/** An encoding alone is the older form of a configuration. */
export const transactionReading = z
  .union([transactionEncoding, transactionShape])
  .nullish()
  .transform((value) =>
    transactionShape.parse(typeof value === 'string' ? { encoding: value } : (value ?? {})),
  );

/** @returns the name of the parameter and the reason */
export function explainIssue(error: z.ZodError, names: readonly string[]): string {
  const [outer] = error.issues;
  if (!outer) return 'something is wrong with them';
  const issue = innermost(outer);
  const [first, ...rest] = issue.path;
  const name = typeof first === 'number' ? (names[first] ?? `parameter ${first + 1}`) : first;
  const place = [name, ...rest].filter((part) => part !== undefined).map(String);
  return place.length === 0 ? issue.message : `${place.join('.')}: ${issue.message}`;
}

/** When one of several forms fits except for a field, the error is about that field. */
function innermost(issue: z.core.$ZodIssue): z.core.$ZodIssue {
  if (issue.code !== 'invalid_union') return issue;
  const inner = issue.errors.flat().find(({ path }) => path.length > 0);
  if (!inner) return issue;
  return innermost({ ...inner, path: [...issue.path, ...inner.path] });
}
