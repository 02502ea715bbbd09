import { once } from 'node:events';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { Keypair, SystemProgram } from '@solana/web3.js';
import { FINALITY_SLOTS } from '../../localnet/start.ts';
import { until } from '../../testing/until.ts';
import { HELD_SLOT_MS, type LocalnetScene, openLocalnet } from './scene.ts';
import { openSocket, type Socket } from './socket.ts';

let scene: LocalnetScene;
let sockets: Socket[] = [];
beforeAll(async () => {
  scene = await openLocalnet();
});
afterEach(() => {
  for (const { client } of sockets) client.terminate();
  sockets = [];
});
afterAll(() => scene.close());

async function open(url = scene.wsUrl): Promise<Socket> {
  const socket = await openSocket(url);
  sockets.push(socket);
  return socket;
}

const somebody = () => Keypair.generate().publicKey;
const CONFIRMED = { commitment: 'confirmed' };

describe('a websocket', () => {
  it('answers like HTTP, at either port', async () => {
    for (const url of [scene.wsUrl, scene.rpcUrl.replace('http', 'ws')]) {
      const socket = await open(url);
      expect((await socket.ask('getSlot')).result).toEqual(expect.any(Number));
      expect((await socket.ask('getSlots')).error?.code).toBe(-32601);
    }
  });

  it('notifies of an account until it unsubscribes', async () => {
    const socket = await open();
    const address = somebody();
    const { result: subscription } = await socket.ask('accountSubscribe', address.toBase58(), {
      ...CONFIRMED,
      encoding: 'base64',
    });
    await scene.transfer(address, 5_000_000);
    expect(await socket.next()).toEqual({
      jsonrpc: '2.0',
      method: 'accountNotification',
      params: {
        subscription,
        result: {
          context: { slot: expect.any(Number) },
          value: expect.objectContaining({ data: ['', 'base64'], lamports: 5_000_000 }),
        },
      },
    });
    expect((await socket.ask('slotUnsubscribe', subscription)).result).toBe(false);
    expect((await socket.ask('accountUnsubscribe', subscription)).result).toBe(true);
    expect((await socket.ask('accountUnsubscribe', subscription)).result).toBe(false);
    await socket.ask('logsSubscribe', { mentions: [address.toBase58()] }, CONFIRMED);
    await scene.transfer(address, 5_000_000);
    expect((await socket.next()).method).toBe('logsNotification');
  });

  it('gets an error for data too long for base58, and the ledger goes on', async () => {
    const socket = await open();
    const address = somebody().toBase58();
    await socket.ask('accountSubscribe', address, CONFIRMED);
    await socket.ask('programSubscribe', SystemProgram.programId.toBase58(), {
      ...CONFIRMED,
      encoding: 'base58',
      filters: [{ dataSize: 200 }],
    });
    const data = Buffer.alloc(200, 1).toString('base64');
    await scene.ask('localnet_setAccount', address, { data });
    const words = 'error: data too large for bs58 encoding';
    expect((await socket.next()).params?.result).toMatchObject({ value: { data: words } });
    expect((await socket.next()).params?.result).toMatchObject({
      value: { account: { data: [words, 'base58'] }, pubkey: address },
    });
    expect(await scene.call('getAccountInfo', address, CONFIRMED)).toMatchObject({
      error: { code: -32600 },
    });
  });

  it('notifies of a program’s accounts that pass its filters', async () => {
    const socket = await open();
    const program = somebody().toBase58();
    await socket.ask('programSubscribe', program, {
      ...CONFIRMED,
      encoding: 'base64',
      filters: [{ dataSize: 3 }, { memcmp: { offset: 1, bytes: 'BQ==', encoding: 'base64' } }],
    });
    const [passed, other] = [somebody().toBase58(), somebody().toBase58()];
    for (const [address, bytes] of [
      [other, [1, 4, 5]],
      [passed, [4, 5, 6]],
    ] as const) {
      const data = Buffer.from(bytes).toString('base64');
      await scene.ask('localnet_setAccount', address, { data, owner: program });
    }
    expect((await socket.next()).params?.result).toMatchObject({ value: { pubkey: passed } });
  });

  it('notifies once of a signature, even if the subscription comes late', async () => {
    const socket = await open();
    const signature = await scene.transfer(somebody(), 5_000_000);
    const config = { ...CONFIRMED, enableReceivedNotification: true };
    const { result: subscription } = await socket.ask('signatureSubscribe', signature, config);
    expect((await socket.next()).params?.result).toMatchObject({ value: 'receivedSignature' });
    expect((await socket.next()).params?.result).toMatchObject({ value: { err: null } });
    expect((await socket.ask('signatureUnsubscribe', subscription)).result).toBe(false);
  });

  it('notifies of slots in order, and of roots 32 slots behind', async () => {
    const socket = await open();
    await socket.ask('slotSubscribe');
    const first = (await socket.next()).params?.result as { slot: number; root: number };
    const second = (await socket.next()).params?.result as { slot: number; root: number };
    expect(second.slot).toBeGreaterThan(first.slot);
    expect(second.slot - second.root).toBeGreaterThanOrEqual(32);
    await socket.ask('rootSubscribe');
    let heard = await socket.next();
    while (heard.method !== 'rootNotification') heard = await socket.next();
    expect(heard.params?.result).toBeGreaterThanOrEqual(second.root);
  });

  it('is closed by an oversized message, and the ledger continues', async () => {
    const socket = await open();
    socket.client.on('error', () => undefined);
    socket.client.send('a'.repeat(3_000_000));
    await once(socket.client, 'close');
    expect((await (await open()).ask('getHealth')).result).toBe('ok');
  });
});

describe('a ledger that confirms as slowly as a cluster', () => {
  let slow: LocalnetScene;
  beforeAll(async () => {
    slow = await openLocalnet({ slotMs: HELD_SLOT_MS, confirmSlots: 2 });
  });
  afterAll(() => slow.close());

  it('notifies of each commitment in turn and lists accounts at each of them', async () => {
    const socket = await open(slow.wsUrl);
    const program = somebody().toBase58();
    const address = somebody();
    const levels = ['processed', 'confirmed', 'finalized'] as const;
    const commitments = new Map<unknown, string>();
    for (const commitment of levels.toReversed()) {
      const config = { commitment, encoding: 'base64' };
      const { result } = await socket.ask('accountSubscribe', address.toBase58(), config);
      commitments.set(result, commitment);
    }
    const nextCommitment = async () => commitments.get((await socket.next()).params?.subscription);
    const balances = () =>
      Promise.all(levels.map((level) => slow.connection.getBalance(address, level)));
    const found = () =>
      Promise.all(
        levels.map(async (commitment) => {
          const config = { commitment, encoding: 'base64' };
          return (await slow.ask<object[]>('getProgramAccounts', program, config)).length;
        }),
      );
    const signature = await slow.transfer(address, 5_000_000);
    const status = async () =>
      (await slow.connection.getSignatureStatus(signature)).value?.confirmationStatus;
    // Into the same block, with which it is stored.
    const written = slow.ask('localnet_setAccount', somebody().toBase58(), {
      data: Buffer.from([1]).toString('base64'),
      owner: program,
    });
    await until(async () => (await found())[0] === 1);
    expect(await nextCommitment()).toBe('processed');
    await slow.ask('localnet_skipSlots', 2);
    await written;
    expect([await status(), await found()]).toEqual(['processed', [1, 0, 0]]);
    expect(await balances()).toEqual([5_000_000, 0, 0]);
    await slow.ask('localnet_skipSlots', 1);
    expect(await nextCommitment()).toBe('confirmed');
    expect([await status(), await found()]).toEqual(['confirmed', [1, 1, 0]]);
    expect(await balances()).toEqual([5_000_000, 5_000_000, 0]);
    await slow.ask('localnet_skipSlots', FINALITY_SLOTS - 3);
    expect(await found()).toEqual([1, 1, 0]);
    await slow.ask('localnet_skipSlots', 1);
    expect(await nextCommitment()).toBe('finalized');
    expect([await status(), await found()]).toEqual(['finalized', [1, 1, 1]]);
  });
});
