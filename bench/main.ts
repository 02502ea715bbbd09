// `npm run bench -- mirror`: runs one measure by its name, with the options that follow it.

/** Each measure's file, and the other measures of the checkout. */
const MEASURES: Readonly<Record<string, string>> = {
  api: './api/main.ts',
  'compute-units': '../programs/tools/computeUnits.ts',
  cost: './cost/main.ts',
  mirror: './mirror/main.ts',
  path: './path/main.ts',
  webhooks: './webhooks/main.ts',
};

const [name = ''] = process.argv.splice(2, 1);
const file = MEASURES[name];
if (file === undefined) {
  process.stderr.write(`Name a measure: npm run bench -- ${Object.keys(MEASURES).join('|')}\n`);
  process.exit(2);
}
// solana-bankrun reads this when it is loaded, and would print every instruction.
process.env.RUST_LOG ??= 'off';
await import(file);
