// `npm run test:mainnet-profile -- tests/journeys/disputes.test.ts`: the journeys, all unless some are
// named, on a local ledger that keeps time, charges and confirms as mainnet does.
process.env.LEDGER_PROFILE = 'mainnet';
if (!process.argv.slice(2).some((arg) => !arg.startsWith('-'))) process.argv.push('tests/journeys');
await import('./launch.mjs');
