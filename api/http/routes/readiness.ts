import type { Database } from '../../../common/postgres.ts';
import { delay } from '../../../common/wait.ts';
import type { LedgerClock } from '../../../programs/client/sender/ledgerClock.ts';
import type { WorkerDirectory } from '../../workers/directory.ts';

type State = 'ok' | 'away';

/** Whether this process can serve, and what it lacks if not. */
export interface Readiness {
  isReady: boolean;
  parts: { database: State; ledger: State; workers: State };
}

const CHECK_TIMEOUT_MS = 3_000;
/** Whoever asks more often is told the same, so that asking costs the parts nothing. */
const ANSWER_AGE_MAX_MS = 1_000;

/**
 * Asks every part that a completion needs.
 *
 * @returns the state, at most a second old; why a part is away is not told to whoever asks
 */
export function createReadiness(options: {
  database: Database;
  clock: Pick<LedgerClock, 'read'>;
  directory: Pick<WorkerDirectory, 'answering'>;
  /** A monotone clock in milliseconds. */
  nowMs: () => number;
  timeoutMs?: number;
}): () => Promise<Readiness> {
  const { database, clock, directory, nowMs, timeoutMs = CHECK_TIMEOUT_MS } = options;
  let latest: { lookedUpAtMs: number; answer: Promise<Readiness> } | undefined;

  async function check(): Promise<Readiness> {
    const [databaseState, ledger] = await Promise.all([
      stateOf(assertWritable(database), timeoutMs),
      stateOf(clock.read(), timeoutMs),
    ]);
    const workers: State = directory.answering().length > 0 ? 'ok' : 'away';
    const parts = { database: databaseState, ledger, workers };
    return { isReady: Object.values(parts).every((state) => state === 'ok'), parts };
  }

  return () => {
    if (!latest || nowMs() - latest.lookedUpAtMs > ANSWER_AGE_MAX_MS) {
      latest = { lookedUpAtMs: nowMs(), answer: check() };
    }
    return latest.answer;
  };
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

async function stateOf(answer: Promise<unknown>, timeoutMs: number): Promise<State> {
  const timer = new AbortController();
  const late = delay(timeoutMs, timer.signal).then((): State => 'away');
  const state = answer.then((): State => 'ok').catch((): State => 'away');
  try {
    return await Promise.race([state, late]);
  } finally {
    timer.abort();
  }
}
