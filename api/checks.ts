import {
  databaseCheck,
  nodeChecks,
  portCheck,
  withCheckedDatabase,
} from '../common/net/connectionChecks.ts';
import { connectPooledRpc } from '../common/net/pooledRpc.ts';
import { websocketUrlOf } from '../common/net/urls.ts';
import type { StartCheck } from '../common/startChecks.ts';
import { unlessMirrorLacks } from '../common/transientErrors.ts';
import { createAddresses } from '../programs/client/addresses.ts';
import { connectLedger } from '../programs/client/verify/connection/connectLedger.ts';
import { secretsCheck } from '../webhookOperations/secrets.ts';
import type { ApiConfig } from './config.ts';
import { readTls } from './http/server.ts';
import { type DeploymentFault, findDeploymentFaults } from './ledger/deployment.ts';
import { assertMigrated } from './sql/schema.ts';
import { selectModels } from './sql/workers.ts';

/** What `--check` tries of an API's settings. */
export function createStartChecks(config: ApiConfig): StartCheck[] {
  const { SOLANA_RPC_URL: rpcUrl, DATABASE_URL: databaseUrl } = config;
  const payers = [config.SVC_SIGNER_KEY, ...config.SVC_FEE_PAYER_KEYS];
  let reading: Promise<DeploymentFault[]> | undefined;

  function readFaults(): Promise<DeploymentFault[]> {
    const { SVC_COMMITMENT: commitment = 'confirmed' } = config;
    reading ??= findDeploymentFaults({
      connection: connectLedger(connectPooledRpc({ url: rpcUrl })),
      commitment,
      addresses: createAddresses(config.SVC_PROGRAM_ID),
      gateway: config.SVC_GATEWAY,
      signer: config.SVC_SIGNER_KEY,
      feePayers: payers.map(({ publicKey }) => publicKey),
    });
    return reading;
  }

  const onLedger = (part: DeploymentFault['part'], found: unknown): StartCheck => ({
    what: part.replace('_', ' '),
    run: async () => {
      const fault = (await readFaults()).find((one) => one.part === part);
      if (fault) throw new Error(fault.message);
      return String(found);
    },
  });

  return [
    databaseCheck(databaseUrl),
    {
      what: 'mirror',
      run: async () => {
        const models = await withCheckedDatabase(databaseUrl, async (database) => {
          await assertMigrated(database);
          return unlessMirrorLacks(() => selectModels(database));
        });
        if (!models?.length) throw new Error('The mirror has no model: is an indexer running?');
        return `${models.length} models`;
      },
    },
    secretsCheck(config),
    ...nodeChecks({ rpcUrl, wsUrl: config.SOLANA_WS_URL ?? websocketUrlOf(rpcUrl) }),
    onLedger('program', config.SVC_PROGRAM_ID),
    onLedger('gateway', config.SVC_GATEWAY),
    onLedger('signer', config.SVC_SIGNER_KEY.publicKey),
    onLedger('fee_payers', `${payers.length} keys`),
    {
      what: 'certificate',
      run: async () => (readTls(config) ? 'TLS_CERT and TLS_KEY can be read' : 'none: plain HTTP'),
    },
    portCheck({
      host: config.HOST,
      port: config.PORT,
      settings: { host: 'HOST', port: 'PORT' },
    }),
  ];
}
