// `npm run test:unreliable -- --seed 7 tests/journeys/load.test.ts`, `npm run test:mainnet-profile`: the
// journeys, or what is named, on local ledgers of another kind. testing/ledger/ledger.ts reads the
// setting; the rest is jest's.
const [kind, ...args] = process.argv.splice(2);
if (kind === 'unreliable') {
  const at = args.indexOf('--seed');
  const [, seed = `${Date.now() % 1_000_000}`] = at < 0 ? [] : args.splice(at, 2);
  process.env.LOCALNET_UNRELIABLE = seed;
  process.stderr.write(`Every ledger is unreliable by seed ${seed}\n`);
}
if (kind === 'mainnet-profile') process.env.LEDGER_PROFILE = 'mainnet';
if (!args.some((arg) => arg.startsWith('tests/'))) args.unshift('tests/journeys');
process.argv.push(...args);
await import('./launch.mjs');
