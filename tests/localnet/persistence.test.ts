import {
  appendFileSync,
  copyFileSync,
  existsSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, afterEach, describe, expect, it } from '@jest/globals';
import { Keypair, SystemProgram } from '@solana/web3.js';
import { withEscrow } from '../../localnet/escrow.ts';
import { PROGRAM_ID } from '../../programs/client/addresses.ts';
import { coder } from '../../testing/ledger/anchorCoder.ts';
import { type LocalnetScene, newFolder, openLocalnet, removeFolders } from './scene.ts';

let open: LocalnetScene[] = [];
afterEach(async () => {
  for (const scene of open) await scene.close();
  open = [];
});
afterAll(removeFolders);

async function start(folder: string, options: object = {}): Promise<LocalnetScene> {
  const scene = await openLocalnet({ folder, ...options });
  open.push(scene);
  return scene;
}

async function stop(scene: LocalnetScene): Promise<void> {
  open = open.filter((one) => one !== scene);
  await scene.close();
}

/** As a process that is killed leaves its files: the log is not worked in. */
function copyAsKilled(folder: string): string {
  const copy = newFolder();
  for (const name of ['ledger.sqlite', 'ledger.sqlite-wal']) {
    if (existsSync(join(folder, name))) copyFileSync(join(folder, name), join(copy, name));
  }
  return copy;
}

const LOG = 'ledger.sqlite-wal';
const somebody = () => Keypair.generate().publicKey;

describe('a ledger with a data folder', () => {
  it('restores its accounts, history, statuses, slot and genesis hash', async () => {
    const folder = newFolder();
    const first = await start(folder);
    const to = somebody();
    const signature = await first.transfer(to, 5_000_000);
    const before = await first.connection.getTransaction(signature, {
      maxSupportedTransactionVersion: 0,
    });
    const slot = await first.connection.getSlot('processed');
    await stop(first);

    const second = await start(folder);
    expect(second.genesisHash).toBe(first.genesisHash);
    expect(await second.connection.getBalance(to)).toBe(5_000_000);
    const after = await second.connection.getTransaction(signature, {
      maxSupportedTransactionVersion: 0,
    });
    expect(JSON.stringify(after)).toBe(JSON.stringify(before));
    expect(await second.connection.getSlot('processed')).toBeGreaterThan(slot);
    await second.ask('localnet_skipSlots', 32);
    expect(await second.connection.getSignatureStatus(signature)).toMatchObject({
      value: { confirmationStatus: 'finalized', err: null },
    });
  });

  it('never returns to an earlier slot, however often it restarts', async () => {
    const folder = newFolder();
    let lastSlot = 0;
    for (let starts = 0; starts < 4; starts += 1) {
      const scene = await start(folder, { slotMs: [5, 400, 1, 5][starts] });
      const slot = await scene.connection.getSlot('processed');
      expect(slot).toBeGreaterThan(lastSlot);
      await scene.ask('localnet_skipSlots', 1_000_000);
      lastSlot = await scene.connection.getSlot('processed');
      await stop(scene);
    }
  });

  it('restores as final everything from before its shutdown', async () => {
    const folder = newFolder();
    const first = await start(folder, { slotMs: 400 });
    const to = somebody();
    const signature = await first.transfer(to, 5_000_000);
    await stop(first);
    const second = await start(folder, { slotMs: 400 });
    expect(await second.connection.getBalance(to, 'finalized')).toBe(5_000_000);
    const { value } = await second.connection.getSignatureStatus(signature);
    expect(value?.confirmationStatus).toBe('finalized');
  });

  it('differs from the ledger of any other folder', async () => {
    const [one, other] = [await start(newFolder()), await start(newFolder())];
    expect(one.genesisHash).not.toBe(other.genesisHash);
  });

  it('refuses a transaction that it executed before its shutdown', async () => {
    const folder = newFolder();
    // Its blockhash outlives the restart.
    const options = { slotMs: 400, blockhashMs: 60_000 };
    const first = await start(folder, options);
    const transfer = SystemProgram.transfer({
      fromPubkey: first.payer.publicKey,
      toPubkey: first.payer.publicKey,
      lamports: 1,
    });
    const { wire } = await first.sign([transfer]);
    const send = (scene: LocalnetScene) =>
      scene.call('sendTransaction', wire.toString('base64'), { encoding: 'base64' });
    expect((await send(first)).error).toBeUndefined();
    await stop(first);

    const second = await start(folder, options);
    expect((await send(second)).error?.data?.err).toBe('AlreadyProcessed');
  });

  it("keeps the Clock's offset, or its frozen time", async () => {
    const folder = newFolder();
    const first = await start(folder);
    const moved = Date.now() + 86_400_000;
    await first.ask('localnet_setClock', { unixMs: moved });
    await stop(first);

    const second = await start(folder);
    const { unixMs } = await second.ask<{ unixMs: number }>('localnet_setClock', {});
    expect(unixMs).toBeGreaterThanOrEqual(moved);
    expect(unixMs).toBeLessThan(moved + 60_000);
    await second.ask('localnet_setClock', { unixMs: moved, isRunning: false });
    await stop(second);

    const third = await start(folder);
    expect(await third.ask('localnet_setClock', {})).toEqual({ unixMs: moved, isRunning: false });
  });

  it('restores everything that was confirmed when its process was killed', async () => {
    const folder = newFolder();
    const first = await start(folder);
    const to = somebody();
    const signature = await first.transfer(to, 7_000_000);
    const killed = copyAsKilled(folder);
    const second = await start(killed);
    expect(await second.connection.getBalance(to)).toBe(7_000_000);
    expect((await second.connection.getSignatureStatus(signature)).value?.err).toBeNull();
  });

  it('truncates a torn tail of its log and continues with the rest', async () => {
    const folder = newFolder();
    const first = await start(folder);
    const to = somebody();
    await first.transfer(to, 7_000_000);
    const killed = copyAsKilled(folder);
    appendFileSync(join(killed, LOG), Buffer.alloc(3_000, 7));
    const second = await start(killed);
    expect(await second.connection.getBalance(to)).toBe(7_000_000);
  });
});

describe('an unusable data folder', () => {
  async function kept(): Promise<string> {
    const folder = newFolder();
    const scene = await start(folder);
    for (let lamports = 5_000_000; lamports < 5_000_020; lamports += 1) {
      await scene.transfer(somebody(), lamports);
    }
    return folder;
  }

  it('is refused by name when its log is damaged in the middle', async () => {
    const killed = copyAsKilled(await kept());
    const path = join(killed, LOG);
    const log = readFileSync(path);
    log.writeUInt8(log.readUInt8(log.length >> 1) ^ 1, log.length >> 1);
    writeFileSync(path, log);
    await expect(start(killed)).rejects.toThrow(`The ledger's file ${path} is damaged`);
  });

  it('is refused by name when an account in it was changed', async () => {
    const folder = await kept();
    for (const scene of open) await stop(scene);
    const path = join(folder, 'ledger.sqlite');
    const database = new DatabaseSync(path);
    database.exec('update accounts set checksum = checksum + 1');
    database.close();
    await expect(start(folder)).rejects.toThrow(`The ledger's file ${path} is damaged`);
  });

  it('is refused by name when it is truncated', async () => {
    const folder = await kept();
    for (const scene of open) await stop(scene);
    const path = join(folder, 'ledger.sqlite');
    const bytes = readFileSync(path);
    writeFileSync(path, bytes.subarray(0, bytes.length - 20_000));
    await expect(start(folder)).rejects.toThrow(`The ledger's file ${path} is damaged`);
  });

  it.each(['hello', ''])('is refused when it holds something else: %j', async (content) => {
    const folder = newFolder();
    writeFileSync(join(folder, 'ledger.sqlite'), content);
    await expect(start(folder)).rejects.toThrow(join(folder, 'ledger.sqlite'));
  });

  it('is refused when it holds another program’s database', async () => {
    const folder = newFolder();
    const database = new DatabaseSync(join(folder, 'ledger.sqlite'));
    database.exec('create table other (number integer)');
    database.close();
    await expect(start(folder)).rejects.toThrow('is no ledger of this program');
  });

  it('can be used again as soon as it is repaired', async () => {
    const folder = newFolder();
    const path = join(folder, 'ledger.sqlite');
    const database = new DatabaseSync(path);
    database.exec('create table other (number integer)');
    database.close();
    await expect(start(folder)).rejects.toThrow('is no ledger of this program');
    rmSync(path);
    expect(await (await start(folder)).connection.getSlot()).toBeGreaterThan(0);
  });

  it('is refused by name when it is not a folder', async () => {
    const path = join(newFolder(), 'file');
    writeFileSync(path, '');
    await expect(start(path)).rejects.toThrow(`The ledger's folder ${path} cannot be made`);
  });

  it('is refused when another release wrote it', async () => {
    const folder = await kept();
    for (const scene of open) await stop(scene);
    const database = new DatabaseSync(join(folder, 'ledger.sqlite'));
    database.exec('pragma user_version = 99');
    database.close();
    await expect(start(folder)).rejects.toThrow('has files of version 99');
  });

  it('is refused while another process has it open', async () => {
    const folder = await kept();
    await expect(start(folder)).rejects.toThrow('Another process has the ledger');
  });

  it('is refused with the command that starts over, for another account layout', async () => {
    const folder = newFolder();
    const escrow = withEscrow({ payer: somebody(), folder });
    const first = await start(folder, escrow);
    const discriminator = coder.accounts.accountDiscriminator('Config');
    const data = Buffer.concat([discriminator, Buffer.from([77]), Buffer.alloc(100)]);
    await first.ask('localnet_setAccount', somebody().toBase58(), {
      data: data.toString('base64'),
      owner: PROGRAM_ID.toBase58(),
    });
    await stop(first);
    await expect(start(folder, escrow)).rejects.toThrow(
      /accounts of layout version 77.*Start again: rm -r '/s,
    );
  });
});
