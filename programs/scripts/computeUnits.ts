/**
 * Measures the compute units of every instruction in solana-bankrun, on its common path, and
 * compares them with programs/escrow/compute-units.json: growth over 5 percent fails.
 * With `--write` the table is written anew.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { walkThrough } from '../../tests/programs/support/walkthrough.ts';

const GROWTH_PERCENT_MAX = 5;

const path = join(import.meta.dirname, '../escrow/compute-units.json');
const units: Record<string, number> = {};
await walkThrough(async ({ world, name, instructions, signers }) => {
  const nothing = await world.chain.send([]);
  units[name] = (await world.chain.send(instructions, signers)) - nothing;
});
const measured = Object.fromEntries(Object.entries(units).sort(([a], [b]) => (a < b ? -1 : 1)));

if (process.argv.includes('--write')) {
  writeFileSync(path, `${JSON.stringify(measured, null, 2)}\n`);
} else {
  const recorded = JSON.parse(readFileSync(path, 'utf8')) as Record<string, number>;
  const grown = Object.entries(measured).filter(
    ([name, units]) => units * 100 > (recorded[name] ?? 0) * (100 + GROWTH_PERCENT_MAX),
  );
  if (grown.length > 0) {
    const list = grown.map(([name, units]) => `${name} ${recorded[name]} → ${units}`);
    throw new Error(`Compute units grew by over ${GROWTH_PERCENT_MAX} %: ${list.join(', ')}`);
  }
}
console.table(measured);
