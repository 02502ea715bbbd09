import {
  blankRow,
  type Cell,
  fieldsOf,
  type Journaled,
  type JournaledEvent,
  MIRROR_TABLES,
  TABLE_NAMES,
  type TableName,
} from '../../common/database/mirrorTables.ts';
import type { Addresses } from '../../programs/client/addresses.ts';
import { camelCase } from '../../programs/client/codec.ts';
import type { EventName, Events } from '../../programs/client/events.ts';
import type { Change } from './change.ts';
import type { LedgerEvent } from './event.ts';

/** The program makes each account of zeros, and an event then says what is not zero. */
const NEW_ROWS = Object.fromEntries(TABLE_NAMES.map((table) => [table, blankRow(table)])) as Record<
  TableName,
  Record<string, Cell>
>;

/** What an event did to each account whose sequence it moved. */
export function changesOf(event: LedgerEvent, addresses: Addresses): readonly Change[] {
  return accountsOf(event, addresses).map(({ table, address, sequence }) => {
    const values: Record<string, Cell> = sequence === 1n ? { ...NEW_ROWS[table] } : {};
    for (const { column, read } of columnsAfter(event.name, table)) {
      const value = read(event as never);
      if (value !== undefined) values[column] = value;
    }
    return { table, address, sequence, values, ...hostingOf(event) };
  });
}

type ChangedAccount = Pick<Change, 'table' | 'address' | 'sequence'>;

/** The accounts that an event changed: those whose sequences it carries. */
function accountsOf(event: LedgerEvent, addresses: Addresses): ChangedAccount[] {
  const fields = event.data as unknown as Readonly<Record<string, string>>;
  const untouched = UNTOUCHED[event.name]?.(event.data as never);
  const changed = tablesIn(event.name)
    .filter((table) => table !== untouched)
    .map((table) => {
      const { address, sequence } = MIRROR_TABLES[table];
      const found = address === null ? fixedAddress(table, addresses) : (fields[address] ?? '');
      return { table, address: found, sequence: BigInt(fields[sequence] ?? 0) };
    });
  return [...changed, ...unnamedAccounts(event, addresses)];
}

/** Where an event carries the sequence of an account that it may have left alone. */
const UNTOUCHED: {
  readonly [Name in EventName]?: (data: Journaled<Events[Name]>) => TableName | undefined;
} = {
  // A share that was paid went to a token account and left the treasury's books alone.
  JobSettled: ({ treasuryPaid }) => (treasuryPaid ? 'treasury' : undefined),
  DisputeResolved: ({ slashedTokens }) => (slashedTokens === '0' ? 'workers' : undefined),
  // A worker's claim is paid out of the vault, and only the others change the treasury's books.
  ClaimPaid: ({ claimantKind }) => (claimantKind === 'worker' ? 'treasury' : undefined),
};

const tablesOfEvents = new Map<EventName, readonly TableName[]>();

function tablesIn(name: EventName): readonly TableName[] {
  const known = tablesOfEvents.get(name);
  if (known) return known;
  const fields = new Set(fieldsOf(name).map((field) => camelCase(field.name)));
  const tables = TABLE_NAMES.filter((table) => fields.has(MIRROR_TABLES[table].sequence));
  tablesOfEvents.set(name, tables);
  return tables;
}

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

interface ColumnAfter {
  readonly column: string;
  /** Its value after the event; undefined leaves it as it is. */
  read(event: JournaledEvent<EventName>): Cell | undefined;
}

const columnsAfterEvents = new Map<string, readonly ColumnAfter[]>();

/** The columns of a table that a kind of event overwrites. */
function columnsAfter(name: EventName, table: TableName): readonly ColumnAfter[] {
  const key = `${name} ${table}`;
  const known = columnsAfterEvents.get(key);
  if (known) return known;
  const fields = new Set(fieldsOf(name).map((field) => field.name));
  const columns = [...MIRROR_TABLES[table].columns].flatMap(([column, { events, convert }]) => {
    const rule = events?.[name] ?? (fields.has(column) ? camelCase(column) : undefined);
    if (rule === undefined) return [];
    const find = typeof rule === 'function' ? rule : fieldReader(rule);
    const read = (event: JournaledEvent<EventName>): Cell | undefined => {
      const cell = find(event as never);
      return cell === undefined || !convert ? cell : convert(cell);
    };
    return [{ column, read }];
  });
  columnsAfterEvents.set(key, columns);
  return columns;
}

const fieldReader =
  (field: string) =>
  ({ data }: JournaledEvent<EventName>): Cell | undefined =>
    (data as unknown as Readonly<Record<string, Cell>>)[field];
