import { existsSync, readFileSync } from 'node:fs';
import type { Keypair } from '@solana/web3.js';
import { connectPooledRpc } from '../../common/net/pooledRpc.ts';
import type { Localnet } from '../../localnet/start.ts';
import { fetchConfig, fetchWorker, workerEndpoint } from '../../programs/client/accounts.ts';
import { createAddresses, PROGRAM_ID } from '../../programs/client/addresses.ts';
import { connectLedger } from '../../programs/client/verify/connection/connectLedger.ts';
import { LAUNCH_CATALOG } from '../../stack/bootstrap.ts';
import { deriveKeys, setUpDevelopmentLedger } from '../../stack/developmentLedger.ts';
import { CommandError } from '../terminal/output.ts';

/** Where a worker is registered until its own says where it listens. Nothing answers there. */
const ENDPOINT = 'https://worker.example';
const addresses = createAddresses();

/**
 * Sets a running ledger up as `npm start` does. What is set up already stays as it is. The keys are
 * as a key file has them, and as every setting and `--signer` takes them.
 *
 * @param authority has lamports, and is the program's upgrade authority
 * @returns the ledger's addresses and keys
 * @throws CommandError when another key has initialized the program
 */
export async function initializeLedger(
  { rpcUrl, wsUrl, genesisHash }: Localnet,
  authority: Keypair,
) {
  const rpc = connectPooledRpc({ url: rpcUrl });
  const connection = connectLedger(rpc);
  const config = await fetchConfig(connection, addresses.config);
  if (config && !config.authority.equals(authority.publicKey)) {
    throw new CommandError(
      `The program on this ledger belongs to ${config.authority}. Name that key: --payer <file>`,
    );
  }
  const deployment = await setUpDevelopmentLedger({ rpc, authority }, { isBuiltin: true });
  const keys = deriveKeys(authority);
  const workers = await Promise.all(
    keys.workers.map(async (worker, index) => {
      const address = addresses.worker(worker.authority.publicKey);
      const registered = await fetchWorker(connection, address);
      const endpoint = registered ? workerEndpoint(registered) : ENDPOINT;
      await deployment.workers[index]?.register(endpoint);
      return {
        address: address.toBase58(),
        endpoint,
        authority: secret(worker.authority),
        proofKey: secret(worker.proofKey),
      };
    }),
  );
  return {
    rpcUrl,
    wsUrl,
    genesisHash,
    programId: PROGRAM_ID.toBase58(),
    // The mints of stablecoin and stakes; the authority may mint both.
    creditMint: keys.creditMint.publicKey.toBase58(),
    stakeMint: keys.stakeMint.publicKey.toBase58(),
    gateway: addresses.gateway(keys.gatewayOperator.publicKey).toBase58(),
    // All of them hosted by every worker.
    models: LAUNCH_CATALOG.map(({ id }) => id),
    keys: {
      // The payer: the program's upgrade authority, and the authority of its Config.
      authority: secret(authority),
      arbiter: secret(keys.arbiter),
      gatewayOperator: secret(keys.gatewayOperator),
      // A hot signer of the gateway.
      signer: secret(keys.signer),
      crank: secret(keys.crank),
      // Has credits, and the gateway as its spender.
      wallet: secret(keys.wallet),
      // Has lamports and stablecoins, and no rights.
      stranger: secret(keys.stranger),
    },
    workers,
  };
}

const secret = ({ secretKey }: Keypair): number[] => [...secretKey];

/**
 * Makes sure that writing the description destroys nothing else, such as a key.
 *
 * @throws CommandError for a file that is no description of a local ledger
 */
export function expectReplaceable(path: string): void {
  if (!existsSync(path)) return;
  try {
    if ('genesisHash' in JSON.parse(readFileSync(path, 'utf8'))) return;
  } catch {
    // No JSON, so no description either.
  }
  throw new CommandError(`${path} holds something else: name another file after --initialized.`);
}
