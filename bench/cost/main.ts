import { parseArgs } from 'node:util';
import { environmentSchema } from '../../api/config.ts';
import { putUnderLoad } from '../load.ts';
import { buyCredits, closeJobs } from '../path/localLedger.ts';
import { CREDITS_PER_JOB, type Path, startPath } from '../path/startPath.ts';
import { newestSignature, readCosts, type TransactionCosts } from '../path/transactions.ts';
import { createBenchShutdown } from '../processes.ts';
import { costTable, type JobCost } from './report.ts';

// Measures what the ledger takes for a job, from its lock to its closing. The parts are those of
// `npm start`, and every figure is the sum over real transactions of the run, read from the ledger.

/** Which versions of a transaction the API is asked to send. */
const SETTING = 'SVC_TRANSACTION_VERSION';
const VERSIONS = SETTING in environmentSchema.shape ? ['legacy', '1'] : [undefined];
const REQUESTS_MIN = 300;
const REQUESTS_PER_CLIENT = 30;
const WARM_UP_REQUESTS = 300;

const { values } = parseArgs({
  options: {
    clients: { type: 'string', default: '1,16,64' },
    'sol-usd': { type: 'string', default: '150' },
  },
});
const rounds = values.clients.split(',').map(Number);
const shutdown = createBenchShutdown();

try {
  const costs: JobCost[] = [];
  for (const version of VERSIONS) {
    const path = await startPath(shutdown, version ? { [SETTING]: version } : {});
    costs.push(...(await measure(path)));
  }
  console.log(costTable(costs, Number(values['sol-usd'])));
} finally {
  await shutdown.run();
}

async function measure(path: Path): Promise<JobCost[]> {
  const { connection, service, wallet } = path;
  const requestsOf = (clients: number) => Math.max(REQUESTS_MIN, clients * REQUESTS_PER_CLIENT);
  const requests = rounds.map(requestsOf).reduce((sum, each) => sum + each, WARM_UP_REQUESTS);
  await buyCredits(path.rpcUrl, { wallet, credits: BigInt(CREDITS_PER_JOB * requests) });
  await putUnderLoad(service, { clients: 16, requests: WARM_UP_REQUESTS, stream: false });
  const measured: { version: string; clients: number; working: Sums }[] = [];
  for (const clients of rounds) {
    const before = await newestSignature(connection);
    const load = { clients, requests: requestsOf(clients), stream: false };
    const { samples } = await putUnderLoad(service, load);
    const settled = samples.filter(({ isSettled }) => isSettled).length;
    const costs = (await readCosts(connection, before)).filter((one) => !isClosing(one));
    const version = [...new Set(costs.map((one) => one.version))].join(', ');
    console.log(`${clients} clients, ${version}: ${settled} of ${samples.length} jobs settled`);
    measured.push({ version, clients, working: perJob(costs, settled) });
  }
  const before = await newestSignature(connection);
  await closeJobs(connection);
  const closings = (await readCosts(connection, before)).filter(isClosing);
  const closed = closings.reduce((sum, { jobs }) => sum + jobs, 0);
  const closing = perJob(closings, closed);
  return measured.map(({ version, clients, working }) => ({
    version,
    clients,
    lamports: working.lamports + closing.lamports,
    computeUnits: working.computeUnits + closing.computeUnits,
    bytes: working.bytes + closing.bytes,
    transactions: working.transactions + closing.transactions,
  }));
}

function isClosing({ instructions }: TransactionCosts): boolean {
  return instructions === 'job_close';
}

type Sums = Omit<JobCost, 'version' | 'clients'>;

function perJob(costs: readonly TransactionCosts[], jobs: number): Sums {
  const mean = (of: (costs: TransactionCosts) => number): number =>
    costs.reduce((sum, one) => sum + of(one), 0) / jobs;
  return {
    lamports: mean(({ feeLamports }) => feeLamports),
    computeUnits: mean(({ computeUnits }) => computeUnits),
    bytes: mean(({ bytes }) => bytes),
    transactions: mean(({ transactions }) => transactions),
  };
}
