import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { startBankrun } from '../../testing/kit/bankrun.ts';
import { walkThrough } from '../../tests/programs/support/walkthrough.ts';
import { jobFees } from './jobFees.ts';

/**
 * Measures the compute units of every instruction in solana-bankrun, on its common path, and
 * computes what a job's transactions pay. Both are compared with the tables in programs/escrow:
 * growth of compute units over 5 percent fails, and so does any other fee. `--write` replaces the
 * tables.
 */

const GROWTH_PERCENT_MAX = 5;

const folder = join(import.meta.dirname, '../escrow');
const unitsPath = join(folder, 'compute-units.json');
const feesPath = join(folder, 'job-fees.json');

const units = await measureUnits();
const fees = jobFees();
if (process.argv.includes('--write')) {
  writeFileSync(unitsPath, render(units));
  writeFileSync(feesPath, render(fees));
} else {
  compareUnits(JSON.parse(readFileSync(unitsPath, 'utf8')));
  if (readFileSync(feesPath, 'utf8') !== render(fees)) {
    throw new Error(`A job's fees are not those of ${feesPath} any more: ${render(fees)}`);
  }
}
console.table(units);
for (const [signers, shapes] of Object.entries(fees)) {
  console.log(`Lamports per job, ${signers.replaceAll('_', ' ')}:`);
  console.table(shapes);
}

function render(table: object): string {
  return `${JSON.stringify(table, null, 2)}\n`;
}

async function measureUnits(): Promise<Record<string, number>> {
  const measured: [string, number][] = [];
  await walkThrough(async ({ world, name, instructions, signers }) => {
    const nothing = await world.chain.send([]);
    measured.push([name, (await world.chain.send(instructions, signers)) - nothing]);
  }, startBankrun);
  return Object.fromEntries(measured.sort(([a], [b]) => (a < b ? -1 : 1)));
}

function compareUnits(recorded: Record<string, number>): void {
  const grown = Object.entries(units).filter(
    ([name, measured]) => measured * 100 > (recorded[name] ?? 0) * (100 + GROWTH_PERCENT_MAX),
  );
  if (grown.length === 0) return;
  const list = grown.map(([name, measured]) => `${name} ${recorded[name]} → ${measured}`);
  throw new Error(`Compute units grew by over ${GROWTH_PERCENT_MAX} %: ${list.join(', ')}`);
}
