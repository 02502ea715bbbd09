import { tryDecodeBase58 } from '../../keys.ts';
import { fieldOf, isObject, shown } from './answerParts.ts';
import { SavedFileError } from './savedFile.ts';

/**
 * What an answer says of its job: its model, its usage, and `svc` by its names. A field that is null is
 * left out.
 */
export interface Statement {
  readonly model?: string;
  readonly job_id?: string;
  readonly worker?: string;
  readonly attempt?: number;
  readonly credits_charged?: number;
  /** In the stablecoin. */
  readonly usdc_value?: number;
  /** `sha256:` and 64 hex digits. */
  readonly output_hash?: string;
  /** 64 hex digits. */
  readonly request_salt?: string;
  readonly delivery_receipt?: string;
  readonly escrow_tx?: string;
  readonly settlement_tx?: string;
  readonly verify_url?: string;
  /** Why the answer was cut off. */
  readonly truncated?: string;
  /** In the stablecoin. */
  readonly 'usage.cost'?: number;
  readonly 'usage.prompt_tokens'?: number;
  readonly 'usage.completion_tokens'?: number;
}

type Forms<Field extends string> = Readonly<Record<Field, (value: unknown) => boolean>>;
type UsageField = Extract<keyof Statement, `usage.${string}`>;
export type Usage = Pick<Statement, UsageField>;

const isNumber = (value: unknown) => typeof value === 'number';
const isCount = (value: unknown) => Number.isSafeInteger(value) && (value as number) >= 0;
const isLike = (form: RegExp) => (value: unknown) => typeof value === 'string' && form.test(value);

/** Base58 is slow, so that lengths are bounded. */
const ADDRESS = /^[1-9A-HJ-NP-Za-km-z]{32,44}$/;
const SIGNATURE = /^[1-9A-HJ-NP-Za-km-z]{64,88}$/;

const SVC: Forms<Exclude<keyof Statement, 'model' | UsageField>> = {
  job_id: isLike(/^job_[0-9a-f]{32}$/),
  worker: isLike(ADDRESS),
  attempt: isCount,
  credits_charged: isCount,
  usdc_value: isNumber,
  output_hash: isLike(/^sha256:[0-9a-f]{64}$/),
  request_salt: isLike(/^[0-9a-f]{64}$/),
  delivery_receipt: isLike(/^[\w.-]{1,200}$/),
  escrow_tx: isLike(SIGNATURE),
  settlement_tx: isLike(SIGNATURE),
  verify_url: isLike(/^https?:\/\/[!-~]{1,2000}$/),
  truncated: isLike(/^\w{1,40}$/),
};
const USAGE = { cost: isNumber, prompt_tokens: isCount, completion_tokens: isCount };

/**
 * What the last part with `svc` says: it comes with the finish reason.
 *
 * @throws SavedFileError for a field of another form
 */
export function statementIn(answers: readonly object[]): Statement | undefined {
  const stated = statedIn(answers, 'svc', SVC);
  return stated && Object.fromEntries(stated);
}

/**
 * What the last part with `usage` says.
 *
 * @throws SavedFileError for a field of another form
 */
export function usageIn(answers: readonly object[]): Usage {
  const stated = statedIn(answers, 'usage', USAGE) ?? [];
  return Object.fromEntries(stated.map(([name, value]) => [`usage.${name}`, value]));
}

function statedIn(
  answers: readonly object[],
  at: 'svc' | 'usage',
  forms: Forms<string>,
): [string, unknown][] | undefined {
  const last = answers.map((answer) => fieldOf(answer, at)).findLast(isObject);
  if (last === undefined) return undefined;
  return Object.entries(forms).flatMap(([name, isOfForm]): [string, unknown][] => {
    const value = fieldOf(last, name);
    if (value == null) return [];
    if (!isOfForm(value)) throw new SavedFileError(`Its ${at}.${name} has another form.`);
    return [[name, value]];
  });
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
