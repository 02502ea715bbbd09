// `npm run test:upgrade -- --from v0.1.0`: an earlier release and this checkout beside each other.
import { parseArgs } from 'node:util';

const { values } = parseArgs({ options: { from: { type: 'string' } } });
if (values.from === undefined) {
  process.stderr.write('Name the release to come from: npm run test:upgrade -- --from <ref>\n');
  process.exit(2);
}
process.env.UPGRADE_FROM = values.from;
process.argv.splice(2, Number.POSITIVE_INFINITY, 'tests/upgrades/upgrade.test.ts');
await import('../launch.mjs');
