import {
  databaseCheck,
  nodeChecks,
  portCheck,
  withCheckedDatabase,
} from '../common/net/connectionChecks.ts';
import { connectPooledRpc } from '../common/net/pooledRpc.ts';
import { websocketUrlOf } from '../common/net/urls.ts';
import type { StartCheck } from '../common/startChecks.ts';
import { fetchConfig } from '../programs/client/accounts.ts';
import { createAddresses } from '../programs/client/addresses.ts';
import { getBalance, getGenesisHash } from '../programs/client/rpc/methods.ts';
import { connectLedger } from '../programs/client/verify/connection/connectLedger.ts';
import { secretsCheck } from '../webhookOperations/secrets.ts';
import type { IndexerConfig } from './config.ts';
import { assertSameLedger } from './mirror/bindLedger.ts';
import { readMigrationState } from './sql/migrate.ts';
import { selectLedger } from './sql/progress.ts';

/** A refund's fee is 5,000 lamports; with less than a thousand of them the keeper stops soon. */
const CRANK_LAMPORTS_MIN = 5_000_000;

/** What `--check` tries of an indexer's settings. */
export function createStartChecks(config: IndexerConfig): StartCheck[] {
  const { SOLANA_RPC_URL: rpcUrl, DATABASE_URL: databaseUrl, SVC_PROGRAM_ID: programId } = config;
  const rpc = connectPooledRpc({ url: rpcUrl });
  const { SVC_COMMITMENT: commitment = 'confirmed' } = config;
  const crank = config.SVC_CRANK_KEY.publicKey;
  return [
    databaseCheck(databaseUrl),
    {
      what: 'schema',
      run: () =>
        withCheckedDatabase(databaseUrl, async (database) => {
          const { applied, missing } = await readMigrationState(database);
          if (applied === 0) return 'empty: the indexer sets it up';
          return missing === 0 ? `${applied} migrations` : `${missing} migrations are to come`;
        }),
    },
    secretsCheck(config),
    ...nodeChecks({ rpcUrl, wsUrl: config.SOLANA_WS_URL ?? websocketUrlOf(rpcUrl) }),
    {
      what: 'program',
      run: async () => {
        const { config: address } = createAddresses(programId);
        const account = await fetchConfig(connectLedger(rpc, commitment), address, { programId });
        if (!account) throw new Error(`SVC_PROGRAM_ID ${programId} was never initialized here`);
        return programId.toBase58();
      },
    },
    {
      what: 'ledger',
      run: () =>
        withCheckedDatabase(databaseUrl, async (database) => {
          const { applied } = await readMigrationState(database);
          if (applied === 0) return 'not begun';
          const bound = await selectLedger(database);
          if (!bound) return 'not begun';
          const genesisHash = await getGenesisHash(rpc);
          assertSameLedger(bound, { genesisHash, programId: programId.toBase58() });
          return 'of this ledger and program';
        }),
    },
    {
      what: 'crank',
      run: async () => {
        const lamports = await getBalance(rpc, crank.toBase58(), { commitment });
        if (lamports < CRANK_LAMPORTS_MIN) {
          throw new Error(`SVC_CRANK_KEY ${crank} has ${lamports} lamports; refunds need SOL`);
        }
        return `${crank} has ${lamports} lamports`;
      },
    },
    portCheck({
      host: config.INDEXER_HOST,
      port: config.INDEXER_PORT,
      settings: { host: 'INDEXER_HOST', port: 'INDEXER_PORT' },
    }),
  ];
}
