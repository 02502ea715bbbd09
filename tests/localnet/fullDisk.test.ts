import { afterAll, afterEach, describe, expect, it } from '@jest/globals';
import { Keypair } from '@solana/web3.js';
import { type LocalnetScene, newFolder, openLocalnet, removeFolders } from './scene.ts';

let scene: LocalnetScene | undefined;
afterEach(() => scene?.close());
afterAll(removeFolders);

describe('a ledger whose disk is full', () => {
  it('reports it, keeps its data, and resumes when there is space', async () => {
    const folder = newFolder();
    const limits: ((pages: number) => void)[] = [];
    scene = await openLocalnet({
      folder,
      onStoreOpen: ({ limitPages }) => limits.push(limitPages),
    });
    const kept = Keypair.generate().publicKey;
    await scene.transfer(kept, 5_000_000);
    // SQLite takes the present size for the least.
    for (const limit of limits) limit(1);
    const lost = Keypair.generate().publicKey;
    const failed: string[] = [];
    for (let tries = 0; tries < 200 && failed.length < 3; tries += 1) {
      await scene.transfer(lost, 5_000_000 + tries).catch((error: Error) => {
        failed.push(error.message);
      });
    }
    expect(failed).toHaveLength(3);
    expect(failed[0]).toMatch(/^-32005 The ledger cannot write .*ledger\.sqlite: .*full/);
    const { error } = await scene.call('localnet_setClock', { isRunning: true });
    if (error) expect(error.message).toMatch(/cannot write .*full/);
    const before = await scene.connection.getBalance(lost, 'processed');
    await scene.transfer(lost, 6_000_000).catch(() => undefined);
    expect(await scene.connection.getBalance(lost, 'processed')).toBe(before);
    expect(await scene.connection.getBalance(kept)).toBe(5_000_000);
    for (const limit of limits) limit(1_000_000);
    await scene.transfer(lost, 7_000_000);
    expect(await scene.connection.getBalance(lost)).toBe(before + 7_000_000);
  });
});
