import anchor from '@coral-xyz/anchor';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { SystemProgram } from '@solana/web3.js';
import { createLogger } from '../../common/logger.ts';
import { freshAddress, openScene, outcomeOf, type Scene } from './scene.ts';
import { paddedKeys } from './writableLedger.ts';

const KEPT_MS = 5_000;
const NOT_ELIGIBLE = '503 worker_not_eligible';

let scene: Scene;
let logged: { level: number; cause?: string }[];

beforeAll(async () => {
  logged = [];
  const into = { write: (line: string) => void logged.push(JSON.parse(line)) };
  const logger = createLogger({ name: 'test', level: 'info', into });
  scene = await openScene({ logger, stopsTime: true });
});
afterAll(() => scene.close());
afterEach(async () => {
  await scene.writeWorker();
  await freshHealth();
  logged.length = 0;
});

function health(): Promise<Response> {
  return fetch(`${scene.url}/health`);
}

/** Not what was read for an earlier one. */
function freshHealth(): Promise<Response> {
  scene.now.offsetMs += KEPT_MS;
  return health();
}

describe('a worker is not healthy and refuses every job while it', () => {
  it.each<[string, () => Record<string, unknown>]>([
    ['is registered with another proof key', () => ({ proof_key: freshAddress() })],
    ['is suspended', () => ({ status: 'suspended' })],
    ['is deregistered', () => ({ status: 'deregistered' })],
    ['has less than the minimum stake', () => ({ stake_tokens: new anchor.BN(999) })],
    ['is unstaking', () => ({ unstaking_tokens: new anchor.BN(1) })],
  ])('%s', async (_case, fields) => {
    await scene.writeWorker(fields());
    expect(await outcomeOf(freshHealth())).toBe(NOT_ELIGIBLE);
    expect(await outcomeOf(scene.ask(await scene.lock()))).toBe(NOT_ELIGIBLE);
  });

  it('is not registered', async () => {
    await scene.ledger.writeBytes(scene.worker, new Uint8Array(), SystemProgram.programId);
    expect(await outcomeOf(freshHealth())).toBe(NOT_ELIGIBLE);
  });

  it('does not host the model, without which it is healthy', async () => {
    await scene.writeWorker({ models: paddedKeys([freshAddress()], 16) });
    expect(await outcomeOf(scene.ask(await scene.lock()))).toBe(NOT_ELIGIBLE);
    await scene.writeWorker({ models_len: 0 });
    expect(await (await freshHealth()).json()).toMatchObject({ models: [] });
  });
});

describe('a worker that becomes ineligible on the ledger', () => {
  it('logs an error with the cause once, and its recovery once', async () => {
    await scene.writeWorker({ proof_key: freshAddress() });
    for (let asked = 0; asked < 3; asked += 1) await freshHealth();
    expect(logged).toMatchObject([{ level: 50, cause: 'its account names another proof key' }]);
    await scene.writeWorker();
    for (let asked = 0; asked < 3; asked += 1) expect((await freshHealth()).status).toBe(200);
    expect(logged.map(({ level }) => level)).toEqual([50, 30]);
  });

  it('reads the ledger again only after five seconds', async () => {
    await scene.writeWorker({ status: 'suspended' });
    await freshHealth();
    await scene.writeWorker();
    expect(await outcomeOf(health())).toBe(NOT_ELIGIBLE);
    expect((await freshHealth()).status).toBe(200);
  });

  it('reads the ledger again when the clock falls back an hour', async () => {
    await scene.writeWorker({ status: 'suspended' });
    scene.now.offsetMs -= 3_600_000;
    expect(await outcomeOf(health())).toBe(NOT_ELIGIBLE);
  });
});
