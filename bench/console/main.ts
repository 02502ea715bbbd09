import { appendFile } from 'node:fs/promises';
import type { Browser, BrowserContext } from 'playwright-core';
import { createPool } from '../../common/postgres.ts';
import { APP_PAGES, APP_PATHS, type AppPath } from '../../console/routes.ts';
import { readStackFile, STACK_FOLDER } from '../../stack/stackFile.ts';
import { launchChromium, openSignedIn } from '../../testing/browser.ts';
import { percentile } from '../load.ts';
import { filter, interact, verificationBytes } from './interactions.ts';
import { addJobs, removeJobs } from './jobs.ts';
import { loadOnce, OBSERVE, openSlowly, type PageCost } from './pageCost.ts';

// What the pages of the running stack cost a browser whose processor is four times as slow, for a
// wallet of 100,000 jobs. Start the stack with `npm start` first, in this folder; its jobs are given
// for the while, and taken away. OUT=file adds the tables to a file, JOBS=<n> makes other jobs.

const FEW = 100;
const MANY = Number(process.env.JOBS ?? 100_000);
/** Of each page; the median counts, and the worst shift. */
const LOADS = 3;
const KILOBYTE = 1_000;
const GOALS = {
  lcpMs: 1_500,
  home: 150,
  elsewhere: 190,
  verification: 80,
  p95Ms: 100,
  filterMs: 300,
};
/** Whose pages these are; every other is the wallet's. */
const ACCOUNTS: Readonly<Record<string, string>> = {
  '/console/operator': 'operator',
  '/console/arbiter': 'arbiter',
};

const stack = readStackFile(STACK_FOLDER);
if (stack === undefined) throw new Error('No stack runs here: begin with npm start.');
const { baseUrl, wallet, databaseUrl } = stack;
const catalog = await fetch(`${baseUrl}/console/api/models`);
const models = (await catalog.json()) as { data: { id: string }[] };
const pool = createPool({ databaseUrl, applicationName: 'bench' });
const browser = await launchChromium();
const lines: string[] = [];
let areMissed = false;
try {
  await removeJobs(pool);
  await giveJobs(FEW);
  const fewCalls = new Map<string, number>();
  await visit(browser, async (path, context) => {
    fewCalls.set(path, (await loadOnce(context, `${baseUrl}${path}`)).calls.size);
  });
  await removeJobs(pool);
  await giveJobs(MANY);
  lines.push(
    `| page | script, kB | goal | LCP, ms | goal | drawn, ms | shift | calls of the API | of ${FEW} jobs | reached |`,
    '|---|---|---|---|---|---|---|---|---|---|',
  );
  await visit(browser, async (path, context) => {
    const costs: PageCost[] = [];
    for (let load = 0; load < LOADS; load += 1) {
      costs.push(await loadOnce(context, `${baseUrl}${path}`));
    }
    lines.push(rowOf(path, costs, fewCalls.get(path) ?? 0));
  });
  lines.push(
    '',
    '| in the list of jobs | how often | p50 | p95 | goal | reached |',
    '|---|---|---|---|---|---|',
  );
  await useJobs(browser);
} finally {
  await browser.close();
  await removeJobs(pool);
  await pool.end();
}
console.log(lines.join('\n'));
if (process.env.OUT) await appendFile(process.env.OUT, `${lines.join('\n')}\n`);
if (areMissed) process.exitCode = 1;

function giveJobs(count: number): Promise<void> {
  return addJobs(pool, { wallet, count, models: models.data.map(({ id }) => id) });
}

/** Each page in a browser of its own account. */
async function visit(
  around: Browser,
  look: (path: string, context: BrowserContext) => Promise<void>,
): Promise<void> {
  const fixed = (path: AppPath) => !path.includes(':') && APP_PAGES[path] !== undefined;
  const paths = [...APP_PATHS.filter(fixed), '/verify'];
  for (const account of ['wallet', 'operator', 'arbiter']) {
    const context = await around.newContext();
    await (await openSignedIn(context, baseUrl, account)).close();
    await context.addInitScript(OBSERVE);
    for (const path of paths.filter((one) => (ACCOUNTS[one] ?? 'wallet') === account)) {
      await look(path, context);
    }
    await context.close();
  }
}

function rowOf(path: string, costs: readonly PageCost[], fewCalls: number): string {
  const script = Math.max(...costs.map(({ scriptBytes }) => scriptBytes)) / KILOBYTE;
  const median = (values: readonly number[]) => percentile(values, 50);
  const lcpMs = median(costs.map((cost) => cost.lcpMs));
  const shift = Math.max(...costs.map((cost) => cost.shift));
  const calls = Math.max(...costs.map((cost) => cost.calls.size));
  const goal = path === '/console' ? GOALS.home : GOALS.elsewhere;
  const isReached = script <= goal && lcpMs <= GOALS.lcpMs && shift === 0 && calls === fewCalls;
  return cells([
    path,
    script.toFixed(0),
    goal,
    lcpMs.toFixed(0),
    GOALS.lcpMs,
    median(costs.map((cost) => cost.drawnMs)).toFixed(0),
    shift.toFixed(4),
    calls,
    fewCalls,
    verdict(isReached),
  ]);
}

async function useJobs(around: Browser): Promise<void> {
  const context = await around.newContext();
  await (await openSignedIn(context, baseUrl, 'wallet')).close();
  const slow = await openSlowly(context);
  const jobsUrl = `${baseUrl}/console/jobs`;
  const all: number[] = [];
  const add = (name: string, values: readonly number[], goal: number) => {
    const p95 = percentile(values, 95);
    lines.push(
      cells([
        name,
        values.length,
        percentile(values, 50).toFixed(0),
        p95.toFixed(0),
        `${goal} ms`,
        verdict(p95 <= goal),
      ]),
    );
  };
  for (const [name, values] of await interact(slow, jobsUrl)) {
    all.push(...values);
    add(name, values, GOALS.p95Ms);
  }
  add('all of them', all, GOALS.p95Ms);
  add('from a filter to its rows', await filter(slow), GOALS.filterMs);
  const kilobytes = (await verificationBytes(await openSlowly(context), jobsUrl)) / KILOBYTE;
  lines.push(
    cells([
      'script of a verification on use',
      1,
      kilobytes.toFixed(0),
      '',
      `${GOALS.verification} kB`,
      verdict(kilobytes <= GOALS.verification),
    ]),
  );
  await context.close();
}

function cells(values: readonly (string | number)[]): string {
  return `| ${values.join(' | ')} |`;
}

function verdict(isReached: boolean): string {
  areMissed ||= !isReached;
  return isReached ? 'yes' : '**no**';
}
