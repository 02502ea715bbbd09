import { tryDecodeBase58 } from '../../keys.ts';
import { fieldOf, isObject, shown } from './fields.ts';
import { SavedFileError } from './savedFile.ts';

/**
 * What an answer says of its job: its model, its usage, and `svc` by its names. A field that is null is
 * left out.
 */
export interface StatedFields {
  readonly model?: string;
  readonly job_id?: string;
  readonly worker?: string;
  readonly attempt?: number;
  readonly credits_charged?: number;
  /** In the stablecoin. */
  readonly usdc_value?: number;
  /** `sha256:` and 64 hex digits. */
  readonly output_hash?: string;
  /** 64 hex digits, as the next two. */
  readonly request_salt?: string;
  readonly request_commitment?: string;
  readonly answer_details?: string;
  readonly delivery_receipt?: string;
  readonly escrow_tx?: string;
  readonly settlement_tx?: string;
  readonly verify_url?: string;
  /** Why the answer was cut off. */
  readonly truncated?: 'deadline';
  /** In the stablecoin. */
  readonly 'usage.cost'?: number;
  readonly 'usage.prompt_tokens'?: number;
  readonly 'usage.completion_tokens'?: number;
}

type Forms<Field extends string> = Readonly<Record<Field, (value: unknown) => boolean>>;
type UsageField = Extract<keyof StatedFields, `usage.${string}`>;
export type Usage = Pick<StatedFields, UsageField>;

const isNumber = (value: unknown) => typeof value === 'number';
const isCount = (value: unknown) => Number.isSafeInteger(value) && (value as number) >= 0;
const isLike = (form: RegExp) => (value: unknown) => typeof value === 'string' && form.test(value);

/** Base58 is slow, so that lengths are bounded. */
const ADDRESS = /^[1-9A-HJ-NP-Za-km-z]{32,44}$/;
const SIGNATURE = /^[1-9A-HJ-NP-Za-km-z]{64,88}$/;

const HEX_HASH = /^[0-9a-f]{64}$/;

const SVC: Forms<Exclude<keyof StatedFields, 'model' | UsageField>> = {
  job_id: isLike(/^job_[0-9a-f]{32}$/),
  worker: isLike(ADDRESS),
  attempt: isCount,
  credits_charged: isCount,
  usdc_value: isNumber,
  output_hash: isLike(/^sha256:[0-9a-f]{64}$/),
  request_salt: isLike(HEX_HASH),
  request_commitment: isLike(HEX_HASH),
  answer_details: isLike(HEX_HASH),
  delivery_receipt: isLike(/^[\w.-]{1,200}$/),
  escrow_tx: isLike(SIGNATURE),
  settlement_tx: isLike(SIGNATURE),
  verify_url: isLike(/^https?:\/\/[!-~]{1,2000}$/),
  truncated: isLike(/^deadline$/),
};
const USAGE = { cost: isNumber, prompt_tokens: isCount, completion_tokens: isCount };

/** All fields that are compared. */
export const STATED: readonly string[] = [...Object.keys(SVC), ...Object.keys(USAGE)];

/**
 * What the parts say in `svc`, each field alike wherever it is not null: late ones come with the finish
 * reason.
 *
 * @throws SavedFileError for a field of another form, and for two values of one
 */
export function statedFieldsIn(parts: readonly object[]): StatedFields | undefined {
  const stated = statedIn(parts, 'svc', SVC);
  return stated && Object.fromEntries(stated);
}

/**
 * What they say in `usage`.
 *
 * @throws SavedFileError for a field of another form, and for two values of one
 */
export function usageIn(parts: readonly object[]): Usage {
  const stated = statedIn(parts, 'usage', USAGE) ?? [];
  return Object.fromEntries([...stated].map(([name, value]) => [`usage.${name}`, value]));
}

/**
 * The model that all parts name.
 *
 * @throws SavedFileError for two, and for what is no text
 */
export function modelIn(parts: readonly object[]): string | undefined {
  const named = parts.map((part) => fieldOf(part, 'model')).filter((model) => model != null);
  if (named.some((model) => typeof model !== 'string')) throw ofAnotherForm('model');
  if (named.some((model) => model !== named[0]))
    throw new SavedFileError('Its parts name several models.');
  return named[0] as string | undefined;
}

const ofAnotherForm = (field: string) => new SavedFileError(`Its ${field} has another form.`);

function statedIn(
  parts: readonly object[],
  at: 'svc' | 'usage',
  forms: Forms<string>,
): Map<string, unknown> | undefined {
  const all = parts.map((part) => fieldOf(part, at)).filter((said) => said != null);
  const stated = new Map<string, unknown>();
  for (const said of all) {
    if (!isObject(said)) throw ofAnotherForm(at);
    for (const [name, isOfForm] of Object.entries(forms)) {
      const value = fieldOf(said, name);
      if (value == null) continue;
      if (!isOfForm(value)) throw ofAnotherForm(`${at}.${name}`);
      if ((stated.get(name) ?? value) !== value) {
        throw new SavedFileError(`Its parts differ in ${at}.${name}.`);
      }
      stated.set(name, value);
    }
  }
  return all.length === 0 ? undefined : stated;
}

/**
 * The wallet behind the `#` of a link to Verify. The link's host does not matter: nothing is asked there.
 *
 * @throws SavedFileError for the link of another job
 */
export function walletIn(verifyUrl: string, jobId: string): string | undefined {
  const [page = '', fragment = ''] = verifyUrl.split('#', 2);
  if (!page.endsWith(`/${jobId}`)) {
    throw new SavedFileError(`Its svc.verify_url, ${shown(page)}, is not of ${jobId}.`);
  }
  const wallet = new URLSearchParams(fragment).get('wallet');
  const isAddress = ADDRESS.test(wallet ?? '') && tryDecodeBase58(wallet ?? '')?.length === 32;
  return isAddress ? (wallet ?? undefined) : undefined;
}
