import { Command, InvalidArgumentError } from 'commander';
import { ConfigError } from '../common/config.ts';
import { isLoopbackHost } from '../common/net/addressGuard.ts';
import { folderAt, readKeys, readSettings, requireSettings } from '../worker/setup/folder.ts';
import { type InitializeOptions, initializeWorker } from '../worker/setup/initialize.ts';
import { leaveService } from '../worker/setup/leave.ts';
import { SetupError } from '../worker/setup/setupError.ts';
import { describeWorker } from '../worker/setup/status.ts';
import { asCommandError, messageOf } from './terminal/asCommandError.ts';
import { parseAddress, parseNodeUrl, withLedgerNode } from './terminal/ledgerNode.ts';
import { CommandError, renderRows } from './terminal/output.ts';
import { addTargetOptions, findTarget, type TargetOptions } from './wallet/target.ts';

const FAILURES_SHOWN = 5;
const PORT_MAX = 65_533;
const explain = messageOf(SetupError);

/** `svc worker`: everything that the owner of a GPU does with a worker. */
export function createWorkerCommand(): Command {
  const worker = new Command('worker').description('set up, run, watch and end a worker');
  const add = (name: string, description: string): Command =>
    worker
      .command(name)
      .description(description)
      .option('--dir <folder>', "the worker's keys and settings", 'svc-worker');

  const init = add('init', 'make keys, register, stake, host what an upstream serves; repeatable');
  addTargetOptions(init, 'whose jobs it takes: names node, program and gateway')
    .option('--gateway <addresses>', "whose jobs, unless the service's, with commas; or: any")
    .requiredOption('--endpoint <url>', 'the public https address that leads to this worker')
    .requiredOption('--upstream <url>', 'the chat-completions server')
    .option('--model <id=name>', "the upstream's name for a model", collectModel, new Map())
    .option('--slots <number>', 'jobs at the same time; default: measured', parseNumber)
    .option('--stake <tokens>', 'whole tokens at stake; default: the minimum', parseTokens)
    .option('--port <port>', "where it listens here; default: 8090, or the endpoint's", parsePort)
    .action(initialize);
  add('run', 'run it with the settings of its folder and of the environment').action(run);
  add('status', 'earnings by day and model, stake, standing and last failures')
    .option('--days <number>', 'how far back earnings are read', parseNumber, 7)
    .option('--jobs <number>', 'how many jobs are read at most', parseNumber, 500)
    .action(showStatus);
  add('stop', 'take no further jobs, wait for those that run, unlock the stake').action(stop);
  return worker;
}

interface InitOptions
  extends TargetOptions,
    Omit<InitializeOptions, 'rpc' | 'gateway' | 'upstreamKey' | 'allowsLoopback'> {
  readonly gateway?: string;
}

async function initialize(options: InitOptions): Promise<void> {
  const target = await findTarget(options);
  const gateway = options.gateway ?? target.gateway?.toBase58();
  if (!gateway) throw new CommandError('Say whose jobs: --gateway, or --service.');
  const upstreamKey = process.env.WORKER_UPSTREAM_KEY || undefined;
  // Without a service's word: a ledger on this machine is one for development.
  const { rpc, allowsLoopback = isLoopbackHost(rpc.hostname) } = target;
  const decided = { ...options, rpc, gateway, upstreamKey, allowsLoopback };
  await withLedgerNode(target, (ledger) =>
    asCommandError(() => initializeWorker(decided, ledger, console.log), explain),
  );
}

async function run({ dir }: { dir: string }): Promise<void> {
  const [{ loadConfig }, { startWorker }, { runUntilEnded }] = await Promise.all([
    import('../worker/config.ts'),
    import('../worker/start.ts'),
    import('../common/shutdown.ts'),
  ]);
  const folder = folderAt(dir);
  const start = async () => {
    const config = loadConfig({ ...readSettings(folder), ...process.env });
    const { url, address, engine, shutdown } = await startWorker(config);
    runUntilEnded(shutdown, { url, engine, worker_address: address });
  };
  await asCommandError(start, (error) =>
    error instanceof ConfigError
      ? `${error.message}\nIt reads the environment, and then ${folder.settingsPath}.`
      : undefined,
  );
}

async function showStatus(options: { dir: string; days: number; jobs: number }): Promise<void> {
  const { days, jobs: jobsMax } = options;
  const { ledger, authority, metricsPort } = await settingsIn(options.dir);
  const status = await withLedgerNode(ledger, (node) =>
    asCommandError(
      () => describeWorker({ ...node, authority, metricsPort, days, jobsMax }),
      explain,
    ),
  );
  console.log(status.text);
  if (status.failures.length === 0) return;
  const rows = status.failures
    .slice(0, FAILURES_SHOWN)
    .map(({ at, job_id, model, code }) => [at, job_id, model, code]);
  console.log(`\nLast failures\n${renderRows(['at', 'job', 'model', 'code'], rows)}`);
}

async function stop({ dir }: { dir: string }): Promise<void> {
  const { ledger, metricsPort } = await settingsIn(dir);
  const { authority } = asCommandError(() => readKeys(folderAt(dir)), explain);
  await withLedgerNode(ledger, (node) =>
    asCommandError(
      () => leaveService({ ...node, authority, metricsPort, report: console.log }),
      explain,
    ),
  );
}

/** What `svc worker init` wrote. */
async function settingsIn(dir: string) {
  const settings = asCommandError(() => requireSettings(folderAt(dir)), explain);
  return {
    ledger: {
      rpc: parseNodeUrl(settings.SOLANA_RPC_URL ?? ''),
      program: parseAddress(settings.SVC_PROGRAM_ID ?? ''),
    },
    authority: parseAddress(settings.WORKER_AUTHORITY ?? ''),
    metricsPort: settings.WORKER_METRICS_PORT,
  };
}

function collectModel(text: string, models: ReadonlyMap<string, string>): Map<string, string> {
  const [id = '', ...name] = text.split('=');
  if (id === '' || name.join('=') === '') throw new InvalidArgumentError('It must be id=name.');
  return new Map([...models, [id, name.join('=')]]);
}

function parseNumber(text: string): number {
  if (/^[1-9]\d{0,4}$/.test(text)) return Number(text);
  throw new InvalidArgumentError('It must be a number from 1 to 99999.');
}

/** Metrics are on the next, or the one after it. */
function parsePort(text: string): number {
  const port = /^\d{1,5}$/.test(text) ? Number(text) : 0;
  if (port >= 1 && port <= PORT_MAX) return port;
  throw new InvalidArgumentError(`It must be a port from 1 to ${PORT_MAX}.`);
}

function parseTokens(text: string): bigint {
  if (/^\d{1,12}$/.test(text)) return BigInt(text);
  throw new InvalidArgumentError('It must be a whole number of tokens.');
}
