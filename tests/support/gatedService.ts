import { type DatabaseGate, startDatabaseGate } from './databaseGate.ts';
import { type LedgerGate, startLedgerGate } from './ledgerGate.ts';
import { type RunningService, startRunningService } from './runningService.ts';
import { createScriptedEngine, type ScriptedEngine } from './scriptedEngine.ts';

/** A service with one worker that says what the test tells it to, and an API that can be cut off. */
export interface GatedService extends RunningService {
  engine: ScriptedEngine;
  /** Between the API and the ledger; the indexer has a way of its own. */
  ledgerGate: LedgerGate;
  /** Between the API and the database. */
  databaseGate: DatabaseGate;
}

export async function startGatedService(
  apiSettings: Record<string, string> = {},
  { indexer = 'inside' }: { indexer?: 'inside' | 'process' } = {},
): Promise<GatedService> {
  const engine = createScriptedEngine();
  const gates: { ledger?: LedgerGate; database?: DatabaseGate } = {};
  const service = await startRunningService({
    workers: [engine],
    indexer,
    async apiSettings({ SOLANA_RPC_URL, DATABASE_URL }) {
      gates.ledger = await startLedgerGate(SOLANA_RPC_URL);
      gates.database = await startDatabaseGate(DATABASE_URL);
      return {
        ...apiSettings,
        SOLANA_RPC_URL: gates.ledger.url,
        // What the ledger says over its websocket would pass by the gate.
        SOLANA_WS_URL: undefined,
        DATABASE_URL: gates.database.databaseUrl,
      };
    },
  });
  const { ledger: ledgerGate, database: databaseGate } = gates as Required<typeof gates>;
  return {
    ...{ ...service, engine, ledgerGate, databaseGate },
    async close() {
      await service.close();
      await ledgerGate.close();
      await databaseGate.close();
    },
  };
}
