import type { Database } from '../../common/postgres.ts';
import { systemTime, type Time, within } from '../../common/wait.ts';
import type { LedgerClock } from '../../programs/client/sender/ledgerClock.ts';
import type { Catalog } from '../jobs/catalog.ts';
import type { DeploymentFault } from '../ledger/deployment.ts';
import type { WorkerDirectory } from '../workers/directory.ts';

type State = 'ok' | 'away';

/** Whether this process can serve, and what it lacks if not. */
export interface Readiness {
  /** `draining`: it still answers, and is about to end. */
  status: 'ready' | 'not_ready' | 'draining';
  parts: Record<
    | 'database'
    | 'mirror'
    | 'ledger'
    | 'program'
    | 'gateway'
    | 'signer'
    | 'fee_payers'
    | 'catalog'
    | 'workers',
    State
  >;
}

const CHECK_TIMEOUT_MS = 3_000;
/** Within this time every request gets the same answer, so that asking costs the parts nothing. */
const ANSWER_AGE_MAX_MS = 1_000;

/**
 * Checks every part that a completion needs.
 *
 * @returns the state, at most a second old, without the reason why a part is away
 */
export function createReadiness(options: {
  database: Database;
  clock: Pick<LedgerClock, 'read'>;
  directory: Pick<WorkerDirectory, 'answering'>;
  catalog: Pick<Catalog, 'list'>;
  /** What the ledger lacks for a lock; throws while no node answers. */
  readFaults: () => Promise<Pick<DeploymentFault, 'part'>[]>;
  /** Whether this process has begun to end. */
  isDraining: () => boolean;
  time?: Time;
  timeoutMs?: number;
}): () => Promise<Readiness> {
  const { database, clock, directory, catalog, readFaults, isDraining } = options;
  const { time = systemTime, timeoutMs = CHECK_TIMEOUT_MS } = options;
  const { nowMs } = time;
  let latest: { lookedUpAtMs: number; answer: Promise<Readiness['parts']> } | undefined;

  async function stateOf(answer: Promise<unknown>): Promise<State> {
    const state = answer.then((): State => 'ok').catch((): State => 'away');
    return (await within(timeoutMs, state, time)) ?? 'away';
  }

  async function check(): Promise<Readiness['parts']> {
    const faulty = new Set<DeploymentFault['part']>();
    const reading = readFaults().then((faults) => {
      for (const { part } of faults) faulty.add(part);
    });
    const [databaseState, mirror, ledger, deployment] = await Promise.all([
      stateOf(assertWritable(database)),
      stateOf(database.query('select from mirror.cursors')),
      stateOf(clock.read()),
      stateOf(reading),
    ]);
    const onLedger = (part: DeploymentFault['part']): State =>
      faulty.has(part) ? 'away' : deployment;
    return {
      database: databaseState,
      mirror,
      ledger,
      program: onLedger('program'),
      gateway: onLedger('gateway'),
      signer: onLedger('signer'),
      fee_payers: onLedger('fee_payers'),
      catalog: hasAny(catalog.list()),
      workers: hasAny(directory.answering()),
    };
  }

  return async () => {
    if (!latest || nowMs() - latest.lookedUpAtMs > ANSWER_AGE_MAX_MS) {
      latest = { lookedUpAtMs: nowMs(), answer: check() };
    }
    const parts = await latest.answer;
    if (isDraining()) return { status: 'draining', parts };
    const isReady = Object.values(parts).every((state) => state === 'ok');
    return { status: isReady ? 'ready' : 'not_ready', parts };
  };
}

function hasAny(found: readonly unknown[]): State {
  return found.length > 0 ? 'ok' : 'away';
}

/**
 * A server that only reads, as a standby does, serves no request that costs anything. It is the
 * statement that fails: so the pool gives its connection up, and the next one may lead to a server
 * that writes.
 */
async function assertWritable(database: Database): Promise<void> {
  await database.query(`
    do $$ begin
      if current_setting('transaction_read_only')::boolean then
        raise read_only_sql_transaction using message = 'the database takes no writes';
      end if;
    end $$`);
}
