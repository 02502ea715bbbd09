import {
  afterAll,
  afterEach,
  beforeAll,
  beforeEach,
  describe,
  expect,
  it,
  jest,
} from '@jest/globals';
import * as wait from '../../../common/wait.ts';
import { clearMirror } from '../../../indexer/sql/digest.ts';
import {
  createMirrorDatabase,
  type MirrorDatabase,
} from '../../../testing/indexer/mirrorDatabase.ts';
import { createRandom } from '../../../testing/random.ts';
import { subscribeToAll } from '../subscribeToAll.ts';
import { WALLETS } from './ledger/drawInstructions.ts';
import { NOTABLE_SEEDS } from './notableSeeds.ts';
import { createClock } from './simulatedClock.ts';

const TRANSACTIONS = 120;
/** A run takes two seconds; on a machine that others use, many times as long. */
const RUN_MS_MAX = 180_000;
const NO_DIFFERENCES = {
  fatal: [],
  journal: [],
  cursors: [],
  accounts: [],
  tables: [],
  dueEvents: [],
  announcements: [],
};

const { seed: first } = createRandom();
const runs = Number(process.env.SIMULATOR_RUNS ?? 1);
const fresh = Array.from({ length: runs }, (_, run) => ({ seed: first + run, finds: 'anything' }));
const seeds = process.env.SEED === undefined ? [...NOTABLE_SEEDS, ...fresh] : fresh;

const clock = createClock();
// Everything that is imported from here on takes its time from the simulation.
jest.unstable_mockModule('../../../common/wait.ts', () => ({ ...wait, delay: clock.delay }));
const { simulate } = await import('./simulate.ts');

let mirror: MirrorDatabase;

beforeAll(async () => {
  mirror = await createMirrorDatabase();
});

afterAll(async () => {
  await mirror?.close();
});

beforeEach(async () => {
  jest.spyOn(performance, 'now').mockImplementation(clock.nowMs);
  await clearMirror(mirror.pool);
  await subscribeToAll(mirror.pool, WALLETS);
});

afterEach(() => {
  jest.restoreAllMocks();
});

describe('a mirror under simulated failures', () => {
  it.each(seeds)(
    'equals the ledger and announces each event once (seed $seed, for $finds)',
    async ({ seed }) => {
      const outcome = await simulate({ seed, transactions: TRANSACTIONS, mirror, clock });
      expect(outcome).toEqual(NO_DIFFERENCES);
    },
    RUN_MS_MAX,
  );
});
