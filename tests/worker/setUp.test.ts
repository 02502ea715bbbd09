import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { LAMPORTS_PER_SOL, type PublicKey } from '@solana/web3.js';
import { fetchWorker } from '../../programs/client/accounts.ts';
import { stakeDeposit } from '../../programs/client/instructions.ts';
import { mintTo, STAKE_BASE_UNITS_PER_TOKEN } from '../../stack/operator.ts';
import { addresses, createScene, type Scene } from '../../testing/indexer/scene.ts';
import { folderAt, openKeys } from '../../worker/setup/folder.ts';
import { initializeWorker } from '../../worker/setup/initialize.ts';
import { leaveService } from '../../worker/setup/leave.ts';
import { startUpstream } from './upstreamServer.ts';

let scene: Scene;
beforeAll(async () => {
  scene = await createScene();
});
afterAll(() => scene.ledger.close());

/** What mints stake tokens for their owner. */
function mintStake(owner: PublicKey, tokens: bigint) {
  const baseUnits = tokens * STAKE_BASE_UNITS_PER_TOKEN;
  return mintTo(scene.service.operator, { mint: scene.service.mints.stake, owner, baseUnits });
}

const readWorker = (worker: PublicKey) =>
  fetchWorker(scene.ledger.connection, worker, { commitment: 'confirmed' });

describe('setting a worker up', () => {
  it('sends nothing twice when another run is faster while a model loads', async () => {
    const dir = mkdtempSync(`${tmpdir()}/svc-worker-`);
    const { publicKey } = openKeys(folderAt(dir)).authority;
    const { ledger, service } = scene;
    const { rpc, connection } = ledger;
    await ledger.fundLamports(publicKey, LAMPORTS_PER_SOL);
    await scene.send(mintStake(publicKey, 2_000n).instructions, []);
    const upstream = await startUpstream();
    const options = {
      ...{ dir, rpc: new URL(ledger.rpcUrl), gateway: 'any', upstream: upstream.url },
      ...{ upstreamKey: undefined, model: new Map([[service.model.id, 'm']]) },
      ...{ endpoint: 'http://127.0.0.1:1024', slots: 1, allowsLoopback: true },
    };
    const initialize = () =>
      initializeWorker(options, { rpc, connection, addresses }, () => undefined);
    let another: Promise<void> | undefined;
    upstream.answerTrialsWith(async (reply, model) => {
      if (model === undefined) return reply.refuse(200, { data: [{ id: 'm' }] });
      if (another === undefined) {
        another = initialize();
        await another;
      }
      reply.text('Hi');
      reply.finish('length');
      reply.end();
    });
    await initialize();
    expect(await readWorker(addresses.worker(publicKey))).toMatchObject({
      stakeTokens: 1_000n,
      modelsLen: 1,
    });
    upstream.close();
    rmSync(dir, { recursive: true });
  });
});

describe('a worker that leaves', () => {
  it('unlocks what was staked while its last jobs ended, too', async () => {
    const { workerAuthority: authority, worker } = scene.service;
    const stakeTokens = (await readWorker(worker))?.stakeTokens ?? 0n;
    const more = mintStake(authority.publicKey, 500n);
    const deposit = stakeDeposit({
      depositor: authority.publicKey,
      depositorTokenAccount: more.account,
      worker,
      tokens: 500n,
    });
    // The worker's process, which is asked for its jobs until it is not there any more.
    const process = createServer(async (_request, response) => {
      await scene.send([...more.instructions, deposit], [authority]);
      response.destroy();
    }).listen(0, '127.0.0.1');
    await once(process, 'listening');
    const { rpc, connection } = scene.ledger;
    await leaveService({
      ...{ rpc, connection, addresses, authority, report: () => undefined },
      metricsPort: String((process.address() as AddressInfo).port),
    });
    expect(await readWorker(worker)).toMatchObject({
      stakeTokens: 0n,
      unstakingTokens: stakeTokens + 500n,
    });
    process.close();
  });
});
