import { Command } from 'commander';
import type pg from 'pg';
import { withDatabase } from './database.ts';
import { renderDisputes } from './renderDisputes.ts';
import { selectDisputes, selectNewestTime } from './selectDisputes.ts';

/** Disputes shown at a time. */
const PAGE = 100;

/** The verb for the arbiter, who has 24 hours for each dispute; the verdict is `svc send`. */
export function createDisputesCommand(): Command {
  const disputes = new Command('disputes').description('list what the arbiter has to decide');
  disputes
    .command('list')
    .description(`open disputes, the most urgent first, up to ${PAGE}`)
    .option('--all', 'behind them those that are decided, newest first')
    .action(({ all }: { all?: true }) => withDatabase((pool) => showDisputes(pool, all === true)));
  return disputes;
}

async function showDisputes(pool: pg.Pool, decided: boolean): Promise<void> {
  const disputes = await selectDisputes(pool, { decided, limit: PAGE + 1 });
  console.log(renderDisputes(disputes.slice(0, PAGE), await ledgerSeconds(pool)));
  if (disputes.length > PAGE) console.error(`There are more than these ${PAGE}.`);
}

/** While nothing happens on the ledger, the mirror's newest time stands still; deadlines do not. */
async function ledgerSeconds(pool: pg.Pool): Promise<bigint> {
  const mirrored = (await selectNewestTime(pool)) ?? 0n;
  const here = BigInt(Math.floor(Date.now() / 1_000));
  return mirrored > here ? mirrored : here;
}
