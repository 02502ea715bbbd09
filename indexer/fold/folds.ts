import {
  blankRow,
  type Cell,
  fieldsOf,
  type Journaled,
  type JournaledEvent,
  MIRROR_TABLES,
  STEPS,
  TABLE_NAMES,
  type TableName,
} from '../../common/database/mirrorTables.ts';
import type { Addresses } from '../../programs/client/addresses.ts';
import type { EventName, Events } from '../../programs/client/events.ts';
import { camelCase } from '../../programs/client/interface.ts';
import type { Change } from './change.ts';
import type { LedgerEvent } from './event.ts';

/** The program makes each account of zeros, and an event then says what is not zero. */
const NEW_ROWS = Object.fromEntries(TABLE_NAMES.map((table) => [table, blankRow(table)])) as Record<
  TableName,
  Record<string, Cell>
>;

/** What an event did to each account whose sequence it moved. */
export function changesOf(event: LedgerEvent, addresses: Addresses): readonly Change[] {
  const fields = event.data as unknown as Readonly<Record<string, Cell>>;
  return accountsOf(event, addresses).map(({ table, address, sequence }) => {
    const values: Record<string, Cell> = sequence === 1n ? { ...NEW_ROWS[table] } : {};
    for (const { column, rule, convert } of planOf(event.name).columns[table]) {
      const value = typeof rule === 'function' ? rule(event as never) : fields[rule];
      if (value !== undefined) values[column] = convert ? convert(value) : value;
    }
    return { table, address, sequence, values, ...hostingOf(event) };
  });
}

type ChangedAccount = Pick<Change, 'table' | 'address' | 'sequence'>;

/** The accounts that an event changed: those whose sequences it carries. */
function accountsOf(event: LedgerEvent, addresses: Addresses): ChangedAccount[] {
  const fields = event.data as unknown as Readonly<Record<string, string>>;
  const untouched = UNTOUCHED[event.name]?.(event.data as never);
  const changed = unnamedAccounts(event, addresses);
  for (const table of planOf(event.name).tables) {
    if (table === untouched) continue;
    const { address, sequence } = MIRROR_TABLES[table];
    const found = address === null ? fixedAddress(table, addresses) : (fields[address] ?? '');
    changed.push({ table, address: found, sequence: BigInt(fields[sequence] ?? 0) });
  }
  return changed;
}

/** A share that was paid went to a token account and left the treasury's books alone. */
const treasuryIfPaid = (data: { treasuryPaid: boolean }): TableName | undefined =>
  data.treasuryPaid ? 'treasury' : undefined;

/** Where an event carries the sequence of an account that it may have left alone. */
const UNTOUCHED: {
  readonly [Name in EventName]?: (data: Journaled<Events[Name]>) => TableName | undefined;
} = {
  JobSettled: treasuryIfPaid,
  JobCompleted: treasuryIfPaid,
  DisputeResolved: ({ slashedTokens }) => (slashedTokens === '0' ? 'workers' : undefined),
  // A worker's claim is paid out of the vault, and only the others change the treasury's books.
  ClaimPaid: ({ claimantKind }) => (claimantKind === 'worker' ? 'treasury' : undefined),
};

function fixedAddress(table: TableName, addresses: Addresses): string {
  return (table === 'config' ? addresses.config : addresses.treasury).toBase58();
}

/** Accounts that an event changed under other names than their tables have in events. */
function unnamedAccounts({ name, data }: LedgerEvent, addresses: Addresses): ChangedAccount[] {
  if (name === 'ConfigInitialized') {
    return [{ table: 'treasury', address: addresses.treasury.toBase58(), sequence: 1n }];
  }
  if (name !== 'ClaimPaid' || data.claimantKind === 'treasury') return [];
  const table = data.claimantKind === 'worker' ? 'workers' : 'credit_accounts';
  return [{ table, address: data.claimant, sequence: BigInt(data.claimantSequence) }];
}

function hostingOf({ name, data }: LedgerEvent): Pick<Change, 'hosting'> {
  if (name !== 'WorkerHosted' && name !== 'WorkerUnhosted') return {};
  return { hosting: { model: data.model, hosts: name === 'WorkerHosted' } };
}

/** What a kind of event overwrites. */
interface Plan {
  /** Of the accounts whose sequences it carries. */
  readonly tables: readonly TableName[];
  readonly columns: Readonly<Record<TableName, readonly ColumnAfter[]>>;
}

interface ColumnAfter {
  readonly column: string;
  /** The event's field with its value, or what makes the value; undefined leaves it as it is. */
  readonly rule: string | ((event: JournaledEvent<never>) => Cell | undefined);
  readonly convert: ((cell: Cell) => Cell) | undefined;
}

const plans = new Map<EventName, Plan>();

/** Made once for each kind: it takes longer than to fold an event. */
function planOf(name: EventName): Plan {
  const known = plans.get(name);
  if (known) return known;
  const carried = new Set(fieldsOf(name).map((field) => camelCase(field.name)));
  const steps = (STEPS[name] ?? [name]).map((step) => ({
    step,
    fields: new Map(fieldsOf(step).map((field) => [field.name, camelCase(field.name)])),
  }));
  const columnsOf = (table: TableName): ColumnAfter[] =>
    [...MIRROR_TABLES[table].columns].flatMap(([column, { events, convert }]) => {
      const rules = steps.map(({ step, fields }) => events?.[step] ?? fields.get(column));
      const rule = rules.findLast((one) => one !== undefined);
      return rule === undefined ? [] : [{ column, rule, convert }];
    });
  const plan = {
    tables: TABLE_NAMES.filter((table) => carried.has(MIRROR_TABLES[table].sequence)),
    columns: Object.fromEntries(
      TABLE_NAMES.map((table) => [table, columnsOf(table)]),
    ) as unknown as Plan['columns'],
  };
  plans.set(name, plan);
  return plan;
}
