import { base58 } from '@scure/base';
import { Connection, Keypair, type PublicKey, SystemProgram } from '@solana/web3.js';
import { connectPooledRpc } from '../../common/net/pooledRpc.ts';
import { delay } from '../../common/wait.ts';
import { LAUNCH_CATALOG } from '../../stack/bootstrap.ts';
import { deriveKeys } from '../../stack/developmentLedger.ts';
import { submit } from '../../stack/operator.ts';
import { addresses, type JobScene, openJobScene } from '../../testing/ledger/jobScene.ts';
import { readClockSeconds, type Service, type TestLedger } from '../../testing/ledger/ledger.ts';

const POLL_MS = 400;

/** What main.ts has started. */
export const VALIDATOR = {
  rpcUrl: process.env.VALIDATOR_RPC_URL ?? '',
  wsUrl: process.env.VALIDATOR_WS_URL ?? '',
  authorityKey: process.env.VALIDATOR_AUTHORITY_KEY ?? '',
};

/**
 * Verbs for jobs on the validator, with the keys of the service that `npm start` has set up there.
 *
 * @param version of all its transactions
 */
export function openValidatorScene(version: 0 | 1): JobScene {
  const { rpcUrl, wsUrl, authorityKey } = VALIDATOR;
  const payer = Keypair.fromSecretKey(base58.decode(authorityKey));
  const connection = new Connection(rpcUrl, { wsEndpoint: wsUrl, commitment: 'confirmed' });
  const rpc = connectPooledRpc({ url: rpcUrl });
  const operator = { rpc, authority: payer };
  const ledger: TestLedger = {
    ...{ rpcUrl, wsUrl, connection, payer, rpc },
    fundLamports: (toPubkey, lamports) =>
      submit(operator, [
        SystemProgram.transfer({ fromPubkey: payer.publicKey, toPubkey, lamports }),
      ]),
    close: async () => undefined,
  };
  return openJobScene({ ledger, service: describeService(operator), version, advance: pass });
}

function describeService(operator: Service['operator']): Service {
  const { creditMint, stakeMint, signer, wallet, arbiter, gatewayOperator, workers } = deriveKeys(
    operator.authority,
  );
  const [worker] = workers;
  const model = LAUNCH_CATALOG.find(({ tier }) => tier === 'standard');
  if (!worker || !model) throw new Error('npm start sets up other workers or models by now');
  return {
    operator,
    mints: { credit: creditMint.publicKey, stake: stakeMint.publicKey },
    arbiter,
    gateway: addresses.gateway(gatewayOperator.publicKey),
    gatewayOperator,
    hotSigner: signer,
    model,
    wallet,
    creditAccount: addresses.creditAccount(wallet.publicKey),
    worker: addresses.worker(worker.authority.publicKey),
    workerAuthority: worker.authority,
    proofKey: worker.proofKey,
  };
}

/** A validator's Clock is not moved: the time has to pass. */
async function pass(connection: Connection, seconds: number): Promise<void> {
  const end = (await readClockSeconds(connection)) + BigInt(seconds);
  while ((await readClockSeconds(connection)) < end) await delay(POLL_MS);
}

/** Locks one job, which no worker of the service is asked about. */
export async function lockOne(scene: JobScene): Promise<PublicKey> {
  const [locked] = await scene.lock({ count: 1, tokenLimit: 2_000 });
  if (!locked) throw new Error('no job was locked');
  return locked.address;
}
