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

/** A key as a key file has it, and as every setting and `--signer` takes it. */
type SecretKey = readonly number[];

/** Addresses and keys of a ledger with the set-up of `npm start`. */
interface InitializedLedger {
  readonly rpcUrl: string;
  readonly wsUrl: string;
  readonly genesisHash: string;
  readonly programId: string;
  /** The mints of stablecoin and stakes; the authority may mint both. */
  readonly creditMint: string;
  readonly stakeMint: string;
  readonly gateway: string;
  /** The models' ids, all of them hosted by every worker. */
  readonly models: readonly string[];
  readonly keys: {
    /** The payer: the program's upgrade authority, and the authority of its Config. */
    readonly authority: SecretKey;
    readonly arbiter: SecretKey;
    readonly gatewayOperator: SecretKey;
    /** A hot signer of the gateway. */
    readonly signer: SecretKey;
    readonly crank: SecretKey;
    /** Has credits, and the gateway as its spender. */
    readonly wallet: SecretKey;
    /** Has lamports and stablecoins, and no rights. */
    readonly stranger: SecretKey;
  };
  readonly workers: readonly {
    readonly address: string;
    readonly endpoint: string;
    readonly authority: SecretKey;
    readonly proofKey: SecretKey;
  }[];
}

/**
 * Sets a running ledger up as `npm start` does. What is set up already stays as it is.
 *
 * @param authority has lamports, and is the program's upgrade authority
 * @throws CommandError when another key has initialized the program
 */
export async function initializeLedger(
  { rpcUrl, wsUrl, genesisHash }: Localnet,
  authority: Keypair,
): Promise<InitializedLedger> {
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
    creditMint: keys.creditMint.publicKey.toBase58(),
    stakeMint: keys.stakeMint.publicKey.toBase58(),
    gateway: addresses.gateway(keys.gatewayOperator.publicKey).toBase58(),
    models: LAUNCH_CATALOG.map(({ id }) => id),
    keys: {
      authority: secret(authority),
      arbiter: secret(keys.arbiter),
      gatewayOperator: secret(keys.gatewayOperator),
      signer: secret(keys.signer),
      crank: secret(keys.crank),
      wallet: secret(keys.wallet),
      stranger: secret(keys.stranger),
    },
    workers,
  };
}

function secret({ secretKey }: Keypair): SecretKey {
  return [...secretKey];
}

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
