import { randomBytes } from 'node:crypto';
import { chmod, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { base58 } from '@scure/base';
import { Keypair } from '@solana/web3.js';
import { ConfigError } from '../../common/config.ts';
import { connectPooledRpc } from '../../common/net/pooledRpc.ts';
import { endOnError } from '../../common/shutdown.ts';
import { API_ROLE, INDEXER_ROLE } from '../../indexer/sql/roles.ts';
import { loadConfig } from '../config.ts';
import { deriveSettings, setUpDevelopmentLedger } from '../developmentLedger.ts';

// The two steps that a deployment on a local ledger begins with; see docs/deploying.md.
const USAGE =
  'settings <folder>: a file for each setting of a new local ledger; ledger <worker endpoint>: its set-up';

const DATABASE_PORT = 5432;

endOnError('set-up');
const [step, argument] = process.argv.slice(2);
if (step === 'settings' && argument) await writeSettings(argument);
else if (step === 'ledger' && argument) await setUpLedger(argument);
else {
  process.stderr.write(`${USAGE}\n`);
  process.exit(2);
}

/** Writes every setting that differs from one installation to the next, and overwrites none. */
async function writeSettings(folder: string): Promise<void> {
  const authority = Keypair.generate();
  const derived = deriveSettings(authority, { isBuiltin: false });
  const passwordOf = Object.fromEntries(
    ['svc', INDEXER_ROLE, API_ROLE].map((user) => [user, randomBytes(24).toString('hex')]),
  );
  const urlFor = (user: string) =>
    `postgres://${user}:${passwordOf[user]}@127.0.0.1:${DATABASE_PORT}/svc`;
  const settings = {
    ...derived.apiEnvironment,
    ...derived.indexerEnvironment,
    ...derived.workerEnvironments[0],
    SVC_SECRETS_KEY: derived.secretsKey,
    SVC_WALLET: derived.wallet,
    SVC_AUTHORITY_KEY: base58.encode(authority.secretKey),
    POSTGRES_PASSWORD: passwordOf.svc,
    DATABASE_URL: urlFor('svc'),
    DATABASE_URL_INDEXER: urlFor(INDEXER_ROLE),
    DATABASE_URL_API: urlFor(API_ROLE),
  };
  // Containers read single files as users of their own, so only the folder keeps other users out.
  await chmod(folder, 0o700);
  for (const [name, value] of Object.entries(settings)) {
    const path = join(folder, name);
    try {
      await writeFile(path, `${value}\n`, { flag: 'wx', mode: 0o444 });
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
      throw new ConfigError(`${path} is there already, and no setting is overwritten`);
    }
  }
}

/** Does what a set-up on the ledger lacks, with one worker at its endpoint. */
async function setUpLedger(endpoint: string): Promise<void> {
  const { SOLANA_RPC_URL: rpcUrl, SVC_AUTHORITY_KEY: authority } = loadConfig();
  if (!rpcUrl || !authority) {
    throw new ConfigError('SOLANA_RPC_URL and SVC_AUTHORITY_KEY are required');
  }
  const rpc = connectPooledRpc({ url: rpcUrl });
  const { workers } = await setUpDevelopmentLedger({ rpc, authority }, { isBuiltin: true });
  await workers[0]?.register(endpoint);
}
