/**
 * The test files that `npm test` leaves to `npm run test:all`, with what makes them slow. They judge
 * what surrounds the code rather than the code in process. Each is a path below `tests`, or the
 * beginning of several. `npm test -- <path>` runs any of them.
 */
export const SECOND_LIST = {
  'packages are packed, installed and run on several Nodes': [
    'package/anchorProgram',
    'package/builtFolder',
    'package/commonJs',
    'package/emptyProjects',
    'package/oldNode',
    'package/packed',
  ],
  'documents are walked, and their code is compiled': [
    'docs/agent',
    'docs/codeBlocks',
    'docs/developing',
    'docs/examples.test',
    'docs/firstDeployment',
    'docs/homeWorkers',
    'docs/pages.test',
  ],
  'processes run behind proxies, as units, from an image': [
    'deploy/image',
    'deploy/proxies',
    'deploy/systemd',
  ],
  'the whole stack starts again and again': ['stack/dataFolder', 'stack/externalParts'],
  'copies of the checkout are compiled': ['console/newPage', 'webhooks/newKind'],
  'receivers run in other languages': ['webhooks/receivers'],
  'a browser looks at more than one visit': [
    'console/pages/away',
    'console/pages/disputes',
    'console/pages/jobs',
    'console/pages/payment',
    'console/pages/playground',
    'console/pages/sizes',
    'console/pages/verify',
    'console/pages/visitors',
    'console/pages/webhook',
  ],
  'vectors are drawn, and Python judges them': [
    'receipts/clients',
    'receipts/drawnCalls',
    'receipts/drawnVectors',
    'receipts/python',
    'receipts/shapes',
  ],
  'processes are killed, fault by fault, and disks fill': [
    'faults/',
    'indexer/catchUp',
    'indexer/fullDisk',
    'indexer/migrate',
    'indexer/webhooks/crashRecovery',
    'journeys/load',
    'journeys/startsAndEnds',
  ],
  'each file that a completion passes is counted': ['tidy/requestFiles'],
  'ledgers are killed, drawn at random, or as mainnet is': [
    'localnet/crashRecovery',
    'localnet/fuzz',
    'localnet/profile/',
    'localnet/unreliable',
  ],
  'jest runs in a test': ['changed/', 'found/'],
};

const below = (path) => `<rootDir>/tests/${path.replaceAll('.', '\\.')}`;
const beginnings = Object.values(SECOND_LIST).flat();

/** @returns patterns of the test files that a run of this list leaves out: `first`, `rest` or `all` */
export function leftOutOf(list) {
  if (list === 'first') return beginnings.map(below);
  if (list === 'rest') return [`${below('')}(?!${beginnings.join('|')})`];
  return [];
}
