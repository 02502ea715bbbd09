import { availableParallelism } from 'node:os';
import { parseArgs } from 'node:util';
import { openService, startLedger } from '../../testing/ledger/ledger.ts';
import { createRandom } from '../../testing/random.ts';
import { creditsFor } from '../ledgerJobs.ts';
import { type LiveLocks, measureBareDispatch, measureDispatch } from './dispatchLatency.ts';
import { backlogTable, type Compared, dispatchTable, throughputTable } from './report.ts';
import { measureBareFetch, measureDeliveries, type Throughput } from './throughput.ts';

// Measures webhooks: the deliveries of one process, and the latency from the ledger's notification to
// the request. Each has ten answering endpoints, and then a dead one among them.

const SHORT = { events: '50', live: '15' };
const LONG = { events: '1000', live: '200' };
const ENDPOINTS = 10;
/** In turn, so that other load on the machine affects all equally. */
const ROUNDS = 2;

const { values } = parseArgs({
  options: {
    long: { type: 'boolean' },
    /** The number of events for each endpoint in each round, announced before the deliveries begin. */
    events: { type: 'string' },
    /** The number of jobs locked on the local ledger in each round, each announced to every endpoint. */
    live: { type: 'string' },
    /** Measures only what so many deliveries of one endpoint do to the others. */
    backlog: { type: 'string' },
  },
});
const sizes = { ...(values.long ? LONG : SHORT), ...values };
const alive = { endpoints: ENDPOINTS, dead: 0 };
const oneDead = { endpoints: ENDPOINTS, dead: 1 };

// Not immediately, so that its child processes end, too.
for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => process.exit(1));
console.log(`Node ${process.version}, ${availableParallelism()} processors, ${process.platform}`);
if (values.backlog) await compareBacklog(Number(sizes.events), Number(values.backlog));
else {
  await compareThroughput(Number(sizes.events));
  await compareDispatch(Number(sizes.live));
}
// web3.js would continue to call the closed ledger.
process.exit();

async function compareThroughput(events: number): Promise<void> {
  const measured = await inTurn({
    bare: () => measureBareFetch(events, ENDPOINTS),
    alive: () => measureDeliveries(events, alive),
    oneDead: () => measureDeliveries(events, oneDead),
  });
  console.log(`\n${ROUNDS} × ${events} events for each of ${ENDPOINTS} endpoints`);
  console.log(throughputTable(measured));
}

async function compareBacklog(events: number, backlog: number): Promise<void> {
  const even: Throughput[] = [];
  const behind: Throughput[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    even.push(await measureDeliveries(events, { ...alive, backlog: 0 }));
    behind.push(await measureDeliveries(events, { ...alive, backlog }));
  }
  console.log(
    `\n${ROUNDS} × ${events} events for each of ${ENDPOINTS - 1} endpoints beside another`,
  );
  console.log(backlogTable({ even, behind }));
}

async function compareDispatch(locks: number): Promise<void> {
  const random = createRandom();
  const ledger = await startLedger();
  const service = await openService(ledger, { credits: creditsFor(3 * ROUNDS * locks) });
  const live: LiveLocks = { ledger, service, locks, random };
  const measured = await inTurn({
    bare: () => measureBareDispatch(live, ENDPOINTS),
    alive: () => measureDispatch(live, alive),
    oneDead: () => measureDispatch(live, oneDead),
  });
  await ledger.close();
  console.log(`\n${ROUNDS} × ${locks} jobs for ${ENDPOINTS} endpoints, seed ${random.seed}`);
  console.log(dispatchTable(measured));
}

async function inTurn<Measure>(
  measure: Readonly<Record<keyof Compared<Measure>, () => Promise<Measure>>>,
): Promise<Compared<Measure>> {
  const measured = { bare: [] as Measure[], alive: [] as Measure[], oneDead: [] as Measure[] };
  for (let round = 0; round < ROUNDS; round += 1) {
    for (const kind of ['bare', 'alive', 'oneDead'] as const) {
      measured[kind].push(await measure[kind]());
    }
  }
  return measured;
}
