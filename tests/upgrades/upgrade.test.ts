import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { createKey } from '../../api/account/keys.ts';
import { createPool } from '../../common/postgres.ts';
import { fetchCreditAccount } from '../../programs/client/accounts.ts';
import { PROJECT_FOLDER } from '../../testing/childProcess.ts';
import { createTestDatabase } from '../../testing/database/database.ts';
import { startReceiver } from '../../testing/indexer/receiver.ts';
import { advanceSeconds, startLedger } from '../../testing/ledger/ledger.ts';
import { needs } from '../../testing/machine/needs.ts';
import { startBalancer } from '../../testing/service/balancer.ts';
import { expectConserved } from '../../testing/service/runningService.ts';
import { until } from '../../testing/until.ts';
import { expectAnnounced, expectSettled, subscribe } from './books.ts';
import { createFleet, type Fleet } from './fleet.ts';
import { type Answer, ask, type Service, startLoad } from './load.ts';
import { installRelease, type Release, run } from './release.ts';

const FROM = process.env.UPGRADE_FROM;
const CHARGE_CREDITS = 8n;
const CLIENTS = 4;
/** Whole answers between two steps of an upgrade. */
const ANSWERS_PER_STEP = 25;
/** After it the keeper has refunded every job without an end. */
const PAST_DEADLINE_SECONDS = 130;
jest.setTimeout(600_000);

let old: Release;

beforeAll(async () => {
  if (FROM !== undefined) old = await installRelease(FROM);
});

afterAll(() => old?.remove());

/** One upgrade from all of the old release to all of this one, while requests run. */
interface Upgrade {
  fleet: Fleet;
  migrate(): Promise<void>;
  /** Lets clients go on with what runs now. */
  goOn(): Promise<void>;
}

const ORDERS: {
  name: string;
  /** Which release of the program is on the ledger: layouts do not change between releases. */
  program: 'old' | 'new';
  upgrade(upgrade: Upgrade): Promise<void>;
}[] = [
  {
    name: 'indexer first, and workers last',
    program: 'old',
    async upgrade({ fleet, goOn }) {
      await fleet.indexer.stop();
      await fleet.indexer.start();
      await goOn();
      for (const slot of [...fleet.apis, ...fleet.workers]) {
        await slot.stop();
        await slot.start();
        await goOn();
      }
    },
  },
  {
    // An API of this release waits for the migrations, which another one covers for.
    name: 'workers first, and the indexer last, after svc migrate',
    program: 'new',
    async upgrade({ fleet, goOn, migrate }) {
      for (const slot of fleet.workers) {
        await slot.stop();
        await slot.start();
        await goOn();
      }
      const [first, second] = fleet.apis;
      await first.stop();
      const starting = first.start();
      await goOn();
      await migrate();
      await starting;
      await goOn();
      for (const slot of [second]) {
        await slot.stop();
        await slot.start();
        await goOn();
      }
      await fleet.indexer.stop();
      await fleet.indexer.start();
      await goOn();
    },
  },
];

needs('an earlier release').describe(
  `an upgrade from ${FROM ?? 'an earlier release'} under load`,
  () => {
    describe.each(ORDERS)('$name', ({ program, upgrade }) => {
      it('loses no request or webhook, and charges each answer once', async () => {
        const folder = program === 'old' ? old.folder : PROJECT_FOLDER;
        const elf = readFileSync(join(folder, 'programs/escrow/artifacts/escrow-v3.so'));
        const ledger = await startLedger({ elf });
        const database = await createTestDatabase({ isEmpty: true });
        const { databaseUrl } = database;
        const fleet = await createFleet(ledger, databaseUrl);
        const { wallet, creditAccount, model } = fleet.service;
        const pool = createPool({ databaseUrl, applicationName: 'test' });
        const receiver = await startReceiver();
        const balancer = await startBalancer(fleet.apis.map(({ url }) => url));
        try {
          await fleet.indexer.start(old.folder);
          for (const slot of [...fleet.workers, ...fleet.apis]) await slot.start(old.folder);
          const apiKey = await createKey(pool, wallet.publicKey.toBase58());
          const service = { baseUrl: balancer.url, apiKey, modelId: model.id };
          await subscribe(service, receiver);
          const load = startLoad({ ...service, clients: CLIENTS });
          const goOn = () => load.more(ANSWERS_PER_STEP);
          await goOn();
          const repeated = await startRepeats(service);
          await upgrade({
            fleet,
            migrate: () => migrateWithThisRelease(databaseUrl),
            async goOn() {
              await goOn();
              await repeated();
            },
          });
          await load.stop();
          const first = await repeated();
          await advanceSeconds(ledger.connection, PAST_DEADLINE_SECONDS);

          expect(load.losses).toEqual([]);
          const jobIds = [...load.answers, first].map(({ jobId }) => jobId);
          expect(new Set(jobIds).size).toBe(jobIds.length);
          const readAccount = () =>
            fetchCreditAccount(ledger.connection, creditAccount, { commitment: 'confirmed' });
          await until(async () => (await readAccount())?.lockedCredits === 0n);
          const charged = CHARGE_CREDITS * BigInt(jobIds.length);
          expect((await readAccount())?.availableCredits).toBe(fleet.boughtCredits - charged);
          await expectConserved(ledger);
          await expectSettled({ ...service, chargeCredits: CHARGE_CREDITS }, jobIds);
          const { events } = await expectAnnounced(receiver, jobIds);
          await expect(fleet.indexer.startBeside(old.folder)).rejects.toThrow(
            /Migration \d+ is not known here/,
          );
          process.stderr.write(
            `${jobIds.length} answers, ${load.losses.length} requests lost, ${balancer.cuts()} ` +
              `connections cut and asked again, ${events} webhooks\n`,
          );
        } finally {
          await balancer.close();
          await fleet.close();
          await receiver.close();
          await pool.end();
          await ledger.close();
        }
        await database.close();
      });
    });
  },
);

async function migrateWithThisRelease(databaseUrl: string): Promise<void> {
  const command = [join(PROJECT_FOLDER, 'cli/main.ts'), 'migrate'];
  await run(process.execPath, command, { folder: PROJECT_FOLDER, DATABASE_URL: databaseUrl });
}

/**
 * Asks under one `Idempotency-Key`, and again whenever the result is called: whichever release
 * answers, it is the same answer of the same job.
 */
async function startRepeats(service: Service): Promise<() => Promise<Answer>> {
  const request = { idempotencyKey: randomUUID(), content: 'Say hello.', isStream: false };
  const first = await ask(service, request);
  return async () => {
    expect(await ask(service, request)).toEqual(first);
    return first;
  };
}
