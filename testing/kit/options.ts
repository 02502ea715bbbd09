import type { ConfigSettings } from '../../programs/client/index.ts';
import type { OneOrMore } from './cast.ts';
import { LEDGER_NAMES, type LedgerName } from './ledgers.ts';
import { DEFAULT_SETTINGS, type ModelOffer, STANDARD_MODEL } from './setUp.ts';

export interface EscrowOptions {
  /**
   * The runtime, inside this process. `litesvm` (the default) returns events. `bankrun` does not: it
   * is for projects that use solana-bankrun.
   */
  readonly ledger?: LedgerName;
  /** Changes to DEFAULT_SETTINGS. */
  readonly settings?: Partial<ConfigSettings>;
  /** By default STANDARD_MODEL. */
  readonly models?: OneOrMore<ModelOffer>;
  /** By default one with 10,000 credits. */
  readonly wallets?: OneOrMore<{ readonly credits?: bigint }>;
  /** By default one with the minimum stake that hosts every model. */
  readonly workers?: OneOrMore<{
    readonly stakeTokens?: bigint;
    readonly modelIds?: readonly string[];
  }>;
}

/** The fields of each option that is an object, or a list of them. */
const FIELDS: Readonly<Record<Exclude<keyof EscrowOptions, 'ledger'>, readonly string[]>> = {
  settings: ['arbiter', ...Object.keys(DEFAULT_SETTINGS)],
  models: [...Object.keys(STANDARD_MODEL), 'card', 'cardHash'],
  wallets: ['credits'],
  workers: ['stakeTokens', 'modelIds'],
};

/**
 * A misspelt option would be ignored, and a test would run with a default in its place.
 *
 * @throws TypeError naming the first unknown option, field or ledger, and those that are known
 */
export function expectKnownOptions({ ledger, ...others }: EscrowOptions): void {
  if (ledger !== undefined) expectKnown('ledger', [ledger], LEDGER_NAMES);
  expectKnown('option', Object.keys(others), ['ledger', ...Object.keys(FIELDS)]);
  for (const [option, given] of Object.entries(others)) {
    for (const part of [given].flat()) {
      const known = FIELDS[option as keyof typeof FIELDS];
      expectKnown(`field of ${option}`, Object.keys(part ?? {}), known);
    }
  }
}

function expectKnown(what: string, given: readonly string[], known: readonly string[]): void {
  const unknown = given.find((name) => !known.includes(name));
  if (unknown === undefined) return;
  throw new TypeError(`startEscrow has no ${what} '${unknown}', but ${known.join(', ')}`);
}
