import type { Connection } from '@solana/web3.js';
import type { Addresses } from '../../programs/client/addresses.ts';
import { workerModels } from '../../programs/client/views.ts';
import type { Database } from '../../runtime/postgres.ts';
import { delay } from '../../runtime/wait.ts';
import { type Conservation, computeConservation } from './conservation.ts';
import { expectedRow } from './expectedRows.ts';
import { type LedgerState, readLedger } from './readLedger.ts';
import { type MirrorRow, readMirror } from './readMirror.ts';

/** One thing that mirror and ledger tell differently; null where one of them tells nothing. */
export interface Difference {
  readonly address: string;
  /** `sequence` when one of them is behind; then no other column of the account was compared. */
  readonly column: string;
  readonly mirror: string | null;
  readonly ledger: string | null;
}

export interface Reconciliation {
  readonly slot: number;
  readonly accounts: number;
  readonly differences: readonly Difference[];
  readonly conservation: readonly Conservation[];
}

/** A live mirror is always a moment behind: only what stays different is reported. */
const ROUNDS_MAX = 5;
const ROUND_INTERVAL_MS = 500;

/**
 * Compares the mirror with every account of the program, and the vaults with what the accounts say
 * must be in them.
 */
export async function reconcile(options: {
  database: Database;
  connection: Connection;
  addresses: Addresses;
}): Promise<Reconciliation> {
  const { database, connection, addresses } = options;
  for (let round = 1; ; round += 1) {
    const state = await readLedger(connection, addresses);
    const differences = await compare(database, state);
    if (round === ROUNDS_MAX || !differences.some(({ column }) => column === 'sequence')) {
      return {
        slot: state.slot,
        accounts: state.accounts.size,
        differences,
        conservation: computeConservation(state),
      };
    }
    await delay(ROUND_INTERVAL_MS);
  }
}

async function compare(database: Database, state: LedgerState): Promise<Difference[]> {
  const { rows, hosted } = await readMirror(database);
  const differences: Difference[] = [];
  for (const [address, account] of state.accounts) {
    const expected = expectedRow(account);
    const row = rows.get(address);
    const found: Record<string, unknown> = { ...row };
    const wanted: Record<string, unknown> = { ...expected.values };
    if (account.name === 'Worker') {
      found.models = hosted.get(address) ?? [];
      wanted.models = workerModels(account.data).map(String).sort();
    }
    const isSameAge = row?.sequence === expected.sequence;
    differences.push(
      ...compareColumns(
        address,
        isSameAge ? found : { sequence: row?.sequence },
        isSameAge ? wanted : { sequence: expected.sequence },
      ),
    );
  }
  for (const [address, { sequence }] of rows) {
    if (state.accounts.has(address)) continue;
    differences.push({ address, column: 'sequence', mirror: text(sequence), ledger: null });
  }
  return differences;
}

function compareColumns(
  address: string,
  found: Partial<MirrorRow>,
  wanted: Record<string, unknown>,
): Difference[] {
  return Object.keys(wanted).flatMap((column) => {
    const mirror = text(found[column]);
    const ledger = text(wanted[column]);
    return mirror === ledger ? [] : [{ address, column, mirror, ledger }];
  });
}

/** Numbers arrive in several types; what they read as is the same. */
function text(value: unknown): string | null {
  return value === null || value === undefined ? null : String(value);
}
