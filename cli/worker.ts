import { Command } from 'commander';
import { ConfigError } from '../common/config.ts';
import { CommandError } from './output.ts';

/** `svc worker`: runs the reference worker with the settings of its environment. */
export function createWorkerCommand(): Command {
  return new Command('worker')
    .description('run the reference worker, configured by its environment: see .env.example')
    .action(runWorker);
}

async function runWorker(): Promise<void> {
  const [{ loadConfig }, { startWorker }, { runUntilEnded }] = await Promise.all([
    import('../worker/config.ts'),
    import('../worker/start.ts'),
    import('../common/shutdown.ts'),
  ]);
  try {
    const { url, address, engine, shutdown } = await startWorker(loadConfig());
    runUntilEnded(shutdown, { url, engine, worker_address: address });
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    throw new CommandError(error.message, { cause: error });
  }
}
