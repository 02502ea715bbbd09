import { Connection, Keypair, type PublicKey, SYSVAR_CLOCK_PUBKEY } from '@solana/web3.js';
import { connectPooledRpc } from '../../common/net/pooledRpc.ts';
import { withEscrow } from '../../localnet/escrow.ts';
import { PROFILE_NAMES, type ProfileName } from '../../localnet/profile.ts';
import { startLocalnet } from '../../localnet/start.ts';
import { unixSecondsOf } from '../../programs/client/accounts.ts';
import type { LedgerConnection } from '../../programs/client/ledgerConnection.ts';
import type { Rpc } from '../../programs/client/rpc/rpc.ts';
import {
  addModel,
  type CatalogModel,
  initializeConfig,
  LAUNCH_CATALOG,
  openGateway,
} from '../../stack/bootstrap.ts';
import { createMint, type Mints, type Operator } from '../../stack/operator.ts';
import { openCreditAccount, registerWorker } from '../../stack/participants.ts';
import { until } from '../until.ts';

/**
 * Calls a ledger's node.
 *
 * @throws Error with the node's message when it refuses
 */
export async function callLedger<Result>(
  rpcUrl: string,
  method: string,
  params: unknown[],
): Promise<Result> {
  const response = await fetch(rpcUrl, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
  });
  const { error, result } = (await response.json()) as {
    error?: { message: string };
    result: Result;
  };
  if (error) throw new Error(`${method}: ${error.message}`);
  return result;
}

/** Writes an account of a local ledger, and waits until it is confirmed; omitted fields stay. */
export async function writeAccount(
  rpcUrl: string,
  address: PublicKey,
  fields: { lamports?: number; data?: Uint8Array; owner?: PublicKey; executable?: boolean },
): Promise<void> {
  const { data, owner, ...rest } = fields;
  await callLedger(rpcUrl, 'localnet_setAccount', [
    address.toBase58(),
    {
      ...rest,
      ...(data && { data: Buffer.from(data).toString('base64') }),
      ...(owner && { owner: owner.toBase58() }),
    },
  ]);
  const slotOf = (commitment: string) => callLedger<number>(rpcUrl, 'getSlot', [{ commitment }]);
  const written = await slotOf('processed');
  await until(async () => (await slotOf('confirmed')) >= written);
}

/** A ledger's Clock, in Unix seconds. */
export async function readClockSeconds(
  connection: Pick<LedgerConnection, 'getAccountInfo'>,
): Promise<bigint> {
  const clock = await connection.getAccountInfo(SYSVAR_CLOCK_PUBKEY, 'confirmed');
  if (clock === null) throw new Error('the ledger has no Clock');
  return unixSecondsOf(clock);
}

/** Advances a local ledger's time: its Clock and slots move on, and blockhashes expire. */
export async function advanceSeconds(connection: Connection, seconds: number): Promise<void> {
  await callLedger(connection.rpcEndpoint, 'localnet_advanceTime', [seconds * 1_000]);
}

/** Sets a local ledger's Clock, which then runs on. Slots and blockhashes stay as they are. */
export async function setClockSeconds(connection: Connection, unixSeconds: bigint): Promise<void> {
  const unixMs = Number(unixSeconds) * 1_000;
  await callLedger(connection.rpcEndpoint, 'localnet_setClock', [{ unixMs }]);
}

/** Stops a local ledger's Clock: no job becomes overdue until it is moved. Slots go on. */
export async function stopClock(connection: Connection): Promise<void> {
  await callLedger(connection.rpcEndpoint, 'localnet_setClock', [{ isRunning: false }]);
}

/** Lets a Clock that was stopped run on from where it was. */
export async function startClock(connection: Connection): Promise<void> {
  await callLedger(connection.rpcEndpoint, 'localnet_setClock', [{ isRunning: true }]);
}

/** So short that a test can wait until a transaction has expired. */
export const BLOCKHASH_MS = 3_000;
/** As on a cluster: for tests whose transactions have to land, on a busy machine as well. */
export const LONG_BLOCKHASH_MS = 60_000;

/** `npm run test:mainnet-profile` sets it. */
export const PROFILE = PROFILE_NAMES.find((name) => name === process.env.LEDGER_PROFILE);

/** A ledger for one test file, with only the program deployed. */
export interface TestLedger {
  rpcUrl: string;
  wsUrl: string;
  connection: Connection;
  rpc: Rpc;
  /** Pays, and is the program's upgrade authority. */
  payer: Keypair;
  /** Gives an address this many lamports. */
  fundLamports(address: PublicKey, lamports: number): Promise<void>;
  close(): Promise<void>;
}

/** How a local ledger is started; see `startLedger`. */
export interface LedgerOptions {
  profile?: ProfileName;
  slotMs?: number;
  confirmSlots?: number;
  blockhashMs?: number;
  elf?: Uint8Array;
  folder?: string;
  payer?: Keypair;
}

/**
 * Starts a local ledger in this process.
 *
 * @param options.profile how it keeps time, and what it charges; by default that of `LEDGER_PROFILE`
 * @param options.slotMs the time between two blocks; by default the profile's
 * @param options.confirmSlots the slots after which a block is confirmed; by default at once
 * @param options.blockhashMs how long a transaction may take to land; by default BLOCKHASH_MS
 * @param options.elf another release of the program; by default the committed one
 * @param options.folder where its files are; by default it has none
 * @param options.payer by default a new one
 */
export async function startLedger({
  elf,
  payer = Keypair.generate(),
  ...options
}: LedgerOptions = {}): Promise<TestLedger> {
  const escrow = withEscrow({ payer: payer.publicKey });
  // Set by `npm run test:unreliable`.
  const { LOCALNET_UNRELIABLE: seed } = process.env;
  const { rpcUrl, wsUrl, close } = await startLocalnet({
    blockhashMs: BLOCKHASH_MS,
    profile: PROFILE,
    ...options,
    ...escrow,
    ...(seed && { unreliable: Number(seed) }),
    ...(elf && { programs: escrow.programs?.map((program) => ({ ...program, elf })) ?? [] }),
    isDevelopment: true,
  });
  const connection = new Connection(rpcUrl, { wsEndpoint: wsUrl, commitment: 'confirmed' });
  const fundLamports = (address: PublicKey, lamports: number): Promise<void> =>
    writeAccount(rpcUrl, address, { lamports });
  const rpc = connectPooledRpc({ url: rpcUrl });
  return { rpcUrl, wsUrl, close, payer, connection, rpc, fundLamports };
}

/** All parties of a job, with their keys. */
export interface Service {
  operator: Operator;
  mints: Mints;
  arbiter: Keypair;
  gateway: PublicKey;
  /** The Gateway's cold key. */
  gatewayOperator: Keypair;
  /** The Gateway's only hot signer. */
  hotSigner: Keypair;
  model: CatalogModel;
  wallet: Keypair;
  creditAccount: PublicKey;
  worker: PublicKey;
  workerAuthority: Keypair;
  proofKey: Keypair;
}

/** Sets up the program, one Gateway, one model, one staked worker and one wallet that trusts the Gateway. */
export async function openService(
  { rpc, payer }: Pick<TestLedger, 'rpc' | 'payer'>,
  { credits = 10_000n }: { credits?: bigint } = {},
): Promise<Service> {
  const operator: Operator = { rpc, authority: payer };
  const creditMint = Keypair.generate();
  const stakeMint = Keypair.generate();
  const arbiter = Keypair.generate();
  const gatewayOperator = Keypair.generate();
  const hotSigner = Keypair.generate();
  const workerAuthority = Keypair.generate();
  const proofKey = Keypair.generate();
  const wallet = Keypair.generate();
  const mints = { credit: creditMint.publicKey, stake: stakeMint.publicKey };
  const model = LAUNCH_CATALOG.find(({ tier }) => tier === 'standard') as CatalogModel;
  await createMint(operator, creditMint);
  await createMint(operator, stakeMint);
  await initializeConfig(operator, { mints, arbiter: arbiter.publicKey });
  const gateway = await openGateway(operator, {
    gatewayOperator,
    signers: [hotSigner.publicKey],
  });
  await addModel(operator, model);
  const worker = await registerWorker(operator, {
    authority: workerAuthority,
    proofKey: proofKey.publicKey,
    endpoint: 'http://127.0.0.1:9',
    modelIds: [model.id],
    stakeTokens: 1_000n,
    mints,
  });
  const creditAccount = await openCreditAccount(operator, {
    wallet,
    spender: gateway,
    credits,
    mints,
  });
  return {
    ...{ operator, mints, arbiter, gateway, gatewayOperator, hotSigner, model, wallet },
    ...{ creditAccount, worker, workerAuthority, proofKey },
  };
}
