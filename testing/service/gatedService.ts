import { type DatabaseGate, startDatabaseGate } from '../database/databaseGate.ts';
import { type LedgerGate, startLedgerGate } from '../ledger/ledgerGate.ts';
import { createScriptedEngine, type ScriptedEngine } from '../workers/engines.ts';
import { type RunningService, startRunningService } from './runningService.ts';

/** A service with one scripted worker, and an API that can be cut off. */
export interface GatedService extends RunningService {
  engine: ScriptedEngine;
  /** Between the API and the ledger; the indexer is connected directly. */
  ledgerGate: LedgerGate;
  /** Between the API and the database. */
  databaseGate: DatabaseGate;
}

export async function startGatedService(
  apiSettings: Record<string, string> = {},
  options: Pick<
    NonNullable<Parameters<typeof startRunningService>[0]>,
    'indexer' | 'queryTimeoutMs' | 'blockhashMs'
  > = {},
): Promise<GatedService> {
  const engine = createScriptedEngine();
  const gates: { ledger?: LedgerGate; database?: DatabaseGate } = {};
  const service = await startRunningService({
    ...options,
    workers: [engine],
    async apiSettings({ SOLANA_RPC_URL, DATABASE_URL }) {
      gates.ledger = await startLedgerGate(SOLANA_RPC_URL);
      gates.database = await startDatabaseGate(DATABASE_URL);
      return {
        ...apiSettings,
        SOLANA_RPC_URL: gates.ledger.url,
        // Notifications over the ledger's websocket would bypass the gate.
        SOLANA_WS_URL: undefined,
        DATABASE_URL: gates.database.databaseUrl,
      };
    },
  });
  const { ledger: ledgerGate, database: databaseGate } = gates as Required<typeof gates>;
  return {
    ...service,
    engine,
    ledgerGate,
    databaseGate,
    async close() {
      await service.close();
      await ledgerGate.close();
      await databaseGate.close();
    },
  };
}
