/**
 * The test files that `npm test` leaves to `npm run test:all`, with what makes them slow: they judge
 * what surrounds the code rather than the code in process. Each is a path below `tests`, or the
 * beginning of several. `npm test -- <path>` runs any of them.
 */
export const SECOND_LIST = {
  'packages are packed, installed and run on several Nodes': ['package/'],
};

const below = (path) => `<rootDir>/tests/${path.replaceAll('.', '\\.')}`;
const beginnings = Object.values(SECOND_LIST).flat();

/** @returns patterns of the test files that a run of this list leaves out: `first`, `rest` or `all` */
export function leftOutOf(list) {
  if (list === 'first') return beginnings.map(below);
  if (list === 'rest') return [`${below('')}(?!${beginnings.join('|')})`];
  return [];
}
