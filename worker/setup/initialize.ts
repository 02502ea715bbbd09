import { LAMPORTS_PER_SOL, type PublicKey, type TransactionInstruction } from '@solana/web3.js';
import { addressListSetting } from '../../common/ledgerSettings.ts';
import { fetchGateway, workerEndpoint } from '../../programs/client/accounts.ts';
import type { Addresses } from '../../programs/client/addresses.ts';
import { accountSize } from '../../programs/client/codec.ts';
import {
  stakeDeposit,
  workerHost,
  workerRegister,
  workerUnhost,
  workerUpdate,
} from '../../programs/client/instructions.ts';
import type { LedgerConnection } from '../../programs/client/ledgerConnection.ts';
import {
  getBalance,
  getMinimumBalanceForRentExemption,
} from '../../programs/client/rpc/methods.ts';
import type { Rpc } from '../../programs/client/rpc/rpc.ts';
import { tokenAccountCreate } from '../../programs/client/token/instructions.ts';
import { TOKEN_ACCOUNT } from '../../programs/client/token/layout.ts';
import { createUpstreamEngine } from '../engine/upstream.ts';
import { choosePorts, requireEndpoint, requireSettingsOfRun } from './addresses.ts';
import { measureCapacity } from './capacity.ts';
import { folderAt, openKeys, readSettings, type WorkerKeys, writeSettings } from './folder.ts';
import {
  readTokenBalance,
  readWorkerState,
  type TokenBalance,
  type WorkerState,
} from './ledgerState.ts';
import { SetupError } from './setupError.ts';
import { sendTogether } from './transactions.ts';
import { listUpstreamModels, proposeModels, tryModels } from './upstreamModels.ts';

/** What the owner of a worker decides. */
export interface InitializeOptions {
  readonly dir: string;
  readonly rpc: URL;
  /** Addresses of Gateways, separated by commas, or `any`. */
  readonly gateway: string;
  readonly endpoint: string;
  /** The address of a chat-completions server. */
  readonly upstream: string;
  /** Its key, where it needs one. */
  readonly upstreamKey: string | undefined;
  /** Its name for models, by catalog id. */
  readonly model: ReadonlyMap<string, string>;
  /** Measured where it is left out. */
  readonly slots?: number;
  /** Whole tokens; the minimum where it is left out. */
  readonly stake?: bigint;
  /** Where it listens; chosen where it is left out. */
  readonly port?: number;
  /** Whether its gateways take workers on loopback, as in development. */
  readonly allowsLoopback: boolean;
}

export type Report = (line: string) => void;

/** Covers all transactions of years, with priority fees. */
const FEE_LAMPORTS = LAMPORTS_PER_SOL / 100;
/** Further models follow in transactions of their own, which hold up to 1,232 bytes each. */
const MODELS_PER_TRANSACTION = 6;
const RUN_AGAIN = 'Then run this command again.';

/**
 * From an upstream and a funded key to a worker that takes jobs. What is done already is not done
 * again, so a repeat goes on where the last one ended.
 *
 * @param report gets one line for each finding
 * @throws SetupError with what its owner has to do first
 */
export async function initializeWorker(
  options: InitializeOptions,
  { rpc, connection, addresses }: { rpc: Rpc; connection: LedgerConnection; addresses: Addresses },
  report: Report,
): Promise<void> {
  const folder = folderAt(options.dir);
  const endpoint = await requireEndpoint(options.endpoint, options.allowsLoopback);
  const keys = openKeys(folder);
  const authority = keys.authority.publicKey;
  report(`Keys             ${folder.path}: authority ${authority}`);
  await requireGateways(connection, addresses, options.gateway);
  const { port, metricsPort } = choosePorts(options, readSettings(folder).WORKER_PORT);
  const settings = {
    SOLANA_RPC_URL: options.rpc.href,
    SVC_PROGRAM_ID: addresses.programId.toBase58(),
    WORKER_AUTHORITY: authority.toBase58(),
    WORKER_PROOF_KEY: folder.proofKeyPath,
    WORKER_GATEWAYS: options.gateway,
    WORKER_UPSTREAM_URL: options.upstream,
    WORKER_PORT: String(port),
    WORKER_METRICS_PORT: String(metricsPort),
  };
  requireSettingsOfRun({ ...settings, WORKER_UPSTREAM_KEY: options.upstreamKey });
  const { offered, config } = await readUsableState(connection, addresses, authority);
  if ((options.stake ?? config.minimumStakeTokens) < config.minimumStakeTokens) {
    throw new SetupError(`--stake must be at least the minimum, ${config.minimumStakeTokens}.`);
  }
  const { models, capacity } = await measureUpstream(options, offered, report);
  writeSettings(folder, {
    ...settings,
    WORKER_MODELS: [...models].map((pair) => pair.join('=')).join(','),
    WORKER_SLOTS: String(capacity),
  });
  // As they are read again: a name may hold what ends a line's value.
  requireSettingsOfRun(readSettings(folder));
  report(`Listens          at port ${port}, metrics at ${metricsPort}`);

  // A model may have taken half an hour to load, and another run may have been faster.
  const state = await readUsableState(connection, addresses, authority);
  const balances = {
    payout: await readTokenBalance(connection, state.config.creditMint, authority),
    stake: await readTokenBalance(connection, state.config.stakeMint, authority),
  };
  const setup = { state, balances, options, keys, endpoint };
  await requireFunds({ ...setup, rpc, report });
  const modelIds = [...models.keys()];
  for (const instructions of transactionsFor({ ...setup, addresses, modelIds })) {
    await sendTogether(rpc, keys.authority, instructions);
  }
  report(`Worker           ${state.address}: registered, staked, hosting ${modelIds.join(', ')}`);
  report(`Next             npx --no svc worker run --dir ${options.dir}`);
}

/** @throws SetupError when the worker cannot be set up any more, or not before its stake is withdrawn */
async function readUsableState(
  connection: LedgerConnection,
  addresses: Addresses,
  authority: PublicKey,
): Promise<WorkerState> {
  const state = await readWorkerState(connection, addresses, authority);
  if (state.worker?.status === 'deregistered') {
    throw new SetupError(`${authority} has deregistered for good. Use another --dir.`);
  }
  if (state.worker && state.worker.unstakingTokens > 0n) {
    throw new SetupError('Its stake is unlocked. Withdraw it first: svc worker stop.');
  }
  return state;
}

/** Which models the upstream really answers for, and how many answers it writes at a time. */
async function measureUpstream(
  options: InitializeOptions,
  offered: readonly string[],
  report: Report,
): Promise<{ models: Map<string, string>; capacity: number }> {
  const url = options.upstream;
  const key = options.upstreamKey;
  const names = (await listUpstreamModels(url, key)) ?? [...new Set(options.model.values())];
  if (names.length === 0) {
    throw new SetupError(`${url} names no models. Name them: --model id=name.`);
  }
  report(`Upstream         ${names.join(', ')}`);
  if (key !== undefined) {
    report('                 its key is not stored: svc worker run needs WORKER_UPSTREAM_KEY, too');
  }
  const proposed = proposeModels(offered, names, options.model);
  for (const [id, name] of proposed) report(`                 ${id} is its ${name}`);
  if (proposed.size === 0) {
    throw new SetupError(
      `None of its names is like one of the catalog: ${offered.join(', ')}. Name one: --model id=name.`,
    );
  }
  const engine = createUpstreamEngine({ url, models: proposed, key });
  const detail = (line: string): void => report(`                 ${line}`);
  const answered = await tryModels(engine, proposed.keys(), detail);
  const [first] = answered;
  if (first === undefined) throw new SetupError('The upstream answers for none of them.');
  const capacity =
    options.slots ??
    (await measureCapacity(
      engine,
      first,
      ({ jobs, textsPerSecond, firstTextSeconds, isRefused }) => {
        const speed = `${textsPerSecond.toFixed(0)} texts/s, first text after ${firstTextSeconds.toFixed(1)} s`;
        detail(`${jobs} at a time: ${isRefused ? 'refused' : speed}`);
      },
    ));
  report(`Capacity         ${capacity === 1 ? '1 job' : `${capacity} jobs`} at the same time`);
  return { models: new Map([...proposed].filter(([id]) => answered.includes(id))), capacity };
}

interface Setup {
  state: WorkerState;
  balances: { payout: TokenBalance; stake: TokenBalance };
  options: InitializeOptions;
  keys: WorkerKeys;
  /** The public address that gateways connect to. */
  endpoint: string;
}

/** Whole tokens that are still to be staked. */
function missingStake({ state, options }: Pick<Setup, 'state' | 'options'>): bigint {
  const wanted = options.stake ?? state.config.minimumStakeTokens;
  const missing = wanted - (state.worker?.stakeTokens ?? 0n);
  return missing > 0n ? missing : 0n;
}

/** @throws SetupError naming what has to be sent where */
async function requireFunds({
  rpc,
  report,
  ...setup
}: Setup & { rpc: Rpc; report: Report }): Promise<void> {
  const { state, balances, keys } = setup;
  const authority = keys.authority.publicKey;
  const rentOf = (bytes: number) => getMinimumBalanceForRentExemption(rpc, bytes);
  const [workerRent, tokenRent, lamports] = await Promise.all([
    state.worker ? 0 : rentOf(accountSize('Worker')),
    rentOf(TOKEN_ACCOUNT.bytes),
    getBalance(rpc, authority.toBase58(), { commitment: 'confirmed' }),
  ]);
  const newAccounts = [balances.payout, balances.stake].filter(
    ({ baseUnits }) => baseUnits === undefined,
  );
  const needed = workerRent + tokenRent * newAccounts.length + FEE_LAMPORTS;
  const perToken = 10n ** BigInt(state.config.stakeDecimals);
  const stake = missingStake(setup);
  const held = (balances.stake.baseUnits ?? 0n) / perToken;
  report(`Needs            ${sol(needed)} SOL for rent and fees, has ${sol(lamports)}`);
  report(`                 ${stake} tokens of ${state.config.stakeMint} to stake, has ${held}`);
  const missing = [
    ...(lamports < needed ? [`${sol(needed - lamports)} SOL to ${authority}`] : []),
    ...(held < stake
      ? [`${stake - held} tokens of the mint ${state.config.stakeMint} to ${authority}`]
      : []),
  ];
  if (missing.length > 0) throw new SetupError(`Send ${missing.join(', and ')}. ${RUN_AGAIN}`);
}

function sol(lamports: number): string {
  return (lamports / LAMPORTS_PER_SOL).toFixed(4);
}

/** What is left to do, so that a repeat sends nothing twice. */
function transactionsFor(
  setup: Setup & { addresses: Addresses; modelIds: readonly string[] },
): TransactionInstruction[][] {
  const { addresses, state, balances, endpoint, keys, modelIds } = setup;
  const { programId } = addresses;
  const { worker, config } = state;
  const authority = keys.authority.publicKey;
  const payout = balances.payout.address;
  const proofKey = keys.proofKey.publicKey;

  const account = { programId, authority, payout, proofKey, endpoint };
  const isCurrent =
    worker?.payout.equals(payout) &&
    worker.proofKey.equals(proofKey) &&
    workerEndpoint(worker) === endpoint;
  const stake = missingStake(setup);
  const deposit = {
    programId,
    depositor: authority,
    depositorTokenAccount: balances.stake.address,
    worker: state.address,
    tokens: stake,
  };
  const added = modelIds
    .filter((modelId) => !state.hosted.includes(modelId))
    .map((modelId) => workerHost({ programId, authority, modelId }));
  const removed = state.hosted
    .filter((modelId) => !modelIds.includes(modelId))
    .map((modelId) => workerUnhost({ programId, authority, modelId }));

  const mints = [config.creditMint, config.stakeMint];
  const first = [
    ...(worker ? [] : [workerRegister(account)]),
    ...(worker && !isCurrent ? [workerUpdate(account)] : []),
    ...(stake > 0n ? [stakeDeposit(deposit)] : []),
    ...added.slice(0, MODELS_PER_TRANSACTION),
  ];
  return [
    mints.map((mint) => tokenAccountCreate({ payer: authority, owner: authority, mint })),
    first,
    added.slice(MODELS_PER_TRANSACTION),
    removed,
  ].filter(({ length }) => length > 0);
}

/** Another address, such as a wallet's, would leave the worker without jobs and without a reason. */
async function requireGateways(
  connection: LedgerConnection,
  { programId }: Addresses,
  text: string,
): Promise<void> {
  if (text === 'any') return;
  const gateways = addressListSetting.safeParse(text);
  if (!gateways.success) throw new SetupError('--gateway takes addresses, or the word any.');
  for (const address of gateways.data) {
    const found = await fetchGateway(connection, address, { programId, commitment: 'confirmed' });
    if (!found) throw new SetupError(`There is no Gateway at ${address} on this ledger.`);
  }
}
