import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { MODEL_ID, openScene, type Scene } from './scene.ts';

let scene: Scene;
beforeAll(async () => {
  scene = await openScene({ capacity: 3, stopsTime: true });
});
afterAll(() => scene.close());

async function health(): Promise<unknown> {
  return (await fetch(`${scene.url}/health`)).json();
}

describe('GET /health', () => {
  it('returns the worker, its models on the ledger, capacity and engine', async () => {
    expect(await health()).toEqual({
      worker_address: scene.worker.toBase58(),
      models: [MODEL_ID],
      slots: 3,
      in_flight: 0,
      engine: 'builtin',
      first_token_ms: {},
      gateways: [scene.gateway.toBase58()],
    });
  });

  it('follows the ledger within five seconds, without a read for each call', async () => {
    await scene.writeWorker({ models_len: 0 });
    expect(await health()).toMatchObject({ models: [MODEL_ID] });
    scene.now.offsetMs += 5_000;
    expect(await health()).toMatchObject({ models: [] });
  });

  it('follows the ledger when the clock falls back an hour', async () => {
    await scene.writeWorker();
    scene.now.offsetMs += 5_000;
    expect(await health()).toMatchObject({ models: [MODEL_ID] });
    await scene.writeWorker({ models_len: 0 });
    scene.now.offsetMs -= 3_600_000;
    expect(await health()).toMatchObject({ models: [] });
  });
});
