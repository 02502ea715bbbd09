import { availableParallelism } from 'node:os';
import { parseArgs } from 'node:util';
import { openService, startLedger } from '../../testing/ledger/ledger.ts';
import { createRandom } from '../../testing/random.ts';
import { creditsFor } from '../ledgerJobs.ts';
import { type LiveLocks, measureBareDispatch, measureDispatch } from './dispatchLatency.ts';
import { type Compared, dispatchTable, throughputTable } from './report.ts';
import { measureBareFetch, measureDeliveries } from './throughput.ts';

// Webhooks: how many deliveries one process makes, and how soon after the ledger's word a request
// arrives; each with ten endpoints that answer, and with one among them that never does.

const SHORT = { events: '50', live: '15' };
const LONG = { events: '1000', live: '200' };
const ENDPOINTS = 10;
/** In turn, so that what else the machine does falls on all alike. */
const ROUNDS = 2;

const { values } = parseArgs({
  options: {
    long: { type: 'boolean' },
    /** Announced to each endpoint in each round, before the deliveries begin. */
    events: { type: 'string' },
    /** Jobs locked on the local ledger in each round, of each of which every endpoint is told. */
    live: { type: 'string' },
  },
});
const sizes = { ...(values.long ? LONG : SHORT), ...values };
const alive = { endpoints: ENDPOINTS, dead: 0 };
const oneDead = { endpoints: ENDPOINTS, dead: 1 };

// Not at once, so that what ends with this process does.
for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => process.exit(1));
console.log(`Node ${process.version}, ${availableParallelism()} processors, ${process.platform}`);
await compareThroughput(Number(sizes.events));
await compareDispatch(Number(sizes.live));
// web3.js would go on calling the ledger that is closed.
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
