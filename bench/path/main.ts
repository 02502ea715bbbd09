import { mkdtemp, rm } from 'node:fs/promises';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { Connection } from '@solana/web3.js';
import { createLogger } from '../../runtime/logger.ts';
import { createShutdown } from '../../runtime/shutdown.ts';
import { startChild } from '../../stack/child.ts';
import { loadConfig } from '../../stack/config.ts';
import { startStack } from '../../stack/start.ts';
import { putUnderLoad, type Target } from '../load.ts';
import { closeJobs } from './closeJobs.ts';
import { costTable, latencyTable } from './report.ts';
import { newestSignature, readCosts } from './transactions.ts';

// What the path through escrow, routing, proof and settlement adds to an upstream that answers at
// once: everything real, on the embedded ledger, on this machine.

const WARM_UP_REQUESTS = 20;
/** The embedded ledger is the bound here: it runs each transaction again for each instruction. */
const REQUESTS_MIN = 60;
const REQUESTS_PER_CLIENT = 10;
/** The bare upstream is so quick that few requests say little. */
const BARE_FACTOR = 10;

const { values } = parseArgs({ options: { clients: { type: 'string', default: '1,16' } } });
const rounds = values.clients.split(',').map(Number);

const folder = await mkdtemp(join(tmpdir(), 'svc-bench-'));
const logger = createLogger({ name: 'bench', level: 'error' });
const shutdown = createShutdown({ logger, timeoutMs: 60_000 });
shutdown.add('folder', () => rm(folder, { recursive: true }));
shutdown.onSignals();

try {
  await run();
} finally {
  await shutdown.run();
}

async function run(): Promise<void> {
  const onDeath = (error: Error) => {
    console.error(error.message);
    process.exitCode = 1;
    void shutdown.run().then(() => process.exit());
  };
  const upstream = startChild({
    ...{ name: 'upstream', script: 'bench/upstream.ts', logFolder: folder, onDeath },
    environment: process.env,
  });
  shutdown.add('upstream', upstream.stop);
  const upstreamUrl = await upstream.ready;
  const environment = {
    ...process.env,
    ...{ PORT: '0', LOG_LEVEL: 'warn', WORKER_UPSTREAM_URL: upstreamUrl },
  };
  const stack = await startStack({
    config: loadConfig(environment),
    ...{ environment, folder, shutdown, onDeath, say: () => undefined },
  });
  const { apiKey, model } = stack;
  const bare: Target = { url: upstreamUrl, apiKey, model };
  const service: Target = { url: `${stack.baseUrl}/v1`, apiKey, model };
  const connection = new Connection(stack.rpcUrl, { wsEndpoint: stack.wsUrl });

  console.log(`Node ${process.version}, ${availableParallelism()} processors, ${process.platform}`);
  await putUnderLoad(service, { clients: 4, requests: WARM_UP_REQUESTS, stream: false });
  for (const clients of rounds) {
    const requests = Math.max(REQUESTS_MIN, clients * REQUESTS_PER_CLIENT);
    const before = await newestSignature(connection);
    const measure = (target: Target, stream: boolean, factor = 1) =>
      putUnderLoad(target, { clients, requests: requests * factor, stream });
    const plain = await measure(service, false);
    const costs = await readCosts(connection, before);
    const comparison = {
      ...{ clients, plain },
      bare: await measure(bare, false, BARE_FACTOR),
      bareStream: await measure(bare, true, BARE_FACTOR),
      stream: await measure(service, true),
    };
    console.log(`\n${latencyTable(comparison)}\n\n${costTable(costs)}`);
  }
  const beforeClosing = await newestSignature(connection);
  await closeJobs(connection);
  console.log(
    `\nClosing, three minutes later:\n${costTable(await readCosts(connection, beforeClosing))}`,
  );
}
