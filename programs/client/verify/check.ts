import type { Value } from '../codec.ts';
import { bytesToHex } from '../platform/bytes.ts';
import { shown } from './answer/fields.ts';

/**
 * What became of one check. `fails` means that the evidence contradicts the rule; `not_checkable`
 * that evidence is missing, which must never pass for success.
 */
export type Verdict = 'holds' | 'fails' | 'not_checkable' | 'not_applicable';

/** A transaction on the ledger. */
export interface Place {
  readonly signature: string;
  readonly slot: bigint;
}

export interface Finding {
  readonly verdict: Verdict;
  /** What was found, in a sentence, with the numbers. */
  readonly detail: string;
}

export interface Check extends Finding {
  /** Stable, for machines: the group, a dot, and the rule. */
  readonly name: string;
  readonly evidence: readonly Place[];
}

export const holds = (detail: string): Finding => ({ verdict: 'holds', detail });
export const fails = (detail: string): Finding => ({ verdict: 'fails', detail });
export const notCheckable = (detail: string): Finding => ({ verdict: 'not_checkable', detail });
export const notApplicable = (detail: string): Finding => ({ verdict: 'not_applicable', detail });

/** `holds` only if nothing failed and nothing was left unchecked for want of evidence. */
export function conclude(checks: readonly Finding[]): Exclude<Verdict, 'not_applicable'> {
  const found = new Set(checks.map(({ verdict }) => verdict));
  if (found.has('fails')) return 'fails';
  return found.has('not_checkable') || !found.has('holds') ? 'not_checkable' : 'holds';
}

/** A value as people write it: bytes in hex, keys in base58. */
export function show(value: Value): string {
  return value instanceof Uint8Array ? bytesToHex(value) : String(value);
}

/**
 * Compares values pairwise.
 *
 * @param pairs what was found and what it must be, by the name to call it in a failure
 * @param agreement the finding's detail when all of them are equal
 */
export function compare(
  pairs: Readonly<Record<string, readonly [found: Value, expected: Value]>>,
  agreement: string,
): Finding {
  const differences = Object.entries(pairs)
    .filter(([, [found, expected]]) => show(found) !== show(expected))
    .map(([name, [found, expected]]) => `${name} is ${shown(show(found))}, not ${show(expected)}`);
  return differences.length === 0 ? holds(agreement) : fails(`${differences.join('; ')}.`);
}

/**
 * How long an overdue refund or expiry may be missing, in seconds. Anybody can send it after the
 * deadline, but it has to be sent.
 */
export const GRACE_SECONDS = 60n;

/** What of an answer no rule binds, nor any field that no rule names. */
export const NOT_PROVEN = [
  ...['format_kept', 'logprobs', 'total_tokens'],
  ...['prompt_tokens_details', 'completion_tokens_details', 'created', 'system_fingerprint'],
] as const;

/** What all checks of a job come to, in words for people. */
export interface Conclusion {
  /** `differs`: nothing contradicts a rule, but what the client gave is not what the ledger records. */
  readonly result: ReturnType<typeof conclude> | 'differs';
  /** Such as `The job holds`, and each thing that differs in a sentence. */
  readonly title: string;
  readonly sentence: string;
}

const TITLES = {
  holds: 'The job holds',
  fails: 'The job fails',
  not_checkable: 'Not everything could be checked',
} as const;

/** What all checks of a job, or of the program, come to. */
export const SENTENCES = {
  holds: 'Everything that applies holds.',
  fails: 'The ledger contradicts what should hold.',
  not_checkable: 'There is no contradiction, but evidence is missing: this proves nothing.',
} as const;

/** Checks of what the client gave. The job itself may hold where one of them fails. */
const GIVEN: Readonly<Record<string, string>> = {
  'delivery.output': 'Your text is not the proven one.',
  'delivery.request': 'Your question is not the proven one.',
  'delivery.details': 'How your answer ends, or what it holds beside its text, is not proven.',
  'delivery.receipt': 'Your receipt does not fit it.',
  'delivery.answer': 'Your answer says something else of it.',
  'model.card': 'Your card is not the pinned one.',
};

/** The conclusion for people, alike in the command and the page: a text that differs fails no job. */
export function conclusionOf(checks: readonly Check[]): Conclusion {
  const ofJob = conclude(checks.filter(({ name }) => !(name in GIVEN)));
  const differing = checks.filter(({ name, verdict }) => name in GIVEN && verdict === 'fails');
  const isOfJob = ofJob === 'fails' || differing.length === 0;
  const result = isOfJob ? conclude(checks) : ofJob;
  const title = TITLES[result];
  const sentence = SENTENCES[result];
  if (isOfJob) return { result, title, sentence };
  const reasons = differing.map(({ detail }) => detail.charAt(0).toUpperCase() + detail.slice(1));
  return {
    result: 'differs',
    title: [`${title}.`, ...differing.map(({ name }) => GIVEN[name])].join(' '),
    sentence: [ofJob === 'holds' ? KEPT : sentence, ...reasons].join(' '),
  };
}

const KEPT = 'The node shows nothing that contradicts a rule.';
