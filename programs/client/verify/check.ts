import type { Value } from '../codec.ts';
import { bytesToHex } from '../platform/bytes.ts';
import { shown } from './answer/answerParts.ts';

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
