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
const DATABASE = 'ledger.sqlite';
const somebody = () => Keypair.generate().publicKey;

describe('a ledger with a data folder', () => {
  it('restores its accounts, history and genesis hash, all of it as final', async () => {
    const folder = newFolder();
    const first = await start(folder, { slotMs: 400 });
    const to = somebody();
    const signature = await first.transfer(to, 5_000_000);
    const read = ({ connection }: LocalnetScene) =>
      connection.getTransaction(signature, { maxSupportedTransactionVersion: 0 });
    const before = await read(first);
    await stop(first);

    const second = await start(folder, { slotMs: 400 });
    expect(second.genesisHash).toBe(first.genesisHash);
    expect(await second.connection.getBalance(to, 'finalized')).toBe(5_000_000);
    expect(JSON.stringify(await read(second))).toBe(JSON.stringify(before));
    expect(await second.connection.getSignatureStatus(signature)).toMatchObject({
      value: { confirmationStatus: 'finalized', err: null },
    });
    const other = await start(newFolder());
    expect(other.genesisHash).not.toBe(first.genesisHash);
  });

  it('refuses a transaction that it executed before its shutdown', async () => {
    const folder = newFolder();
    // Its blockhash outlives the restart.
    const options = { slotMs: 400, blockhashMs: 60_000 };
    const first = await start(folder, options);
    const { publicKey } = first.payer;
    const { wire } = await first.sign([
      SystemProgram.transfer({ fromPubkey: publicKey, toPubkey: publicKey, lamports: 1 }),
    ]);
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
  /** A folder whose ledger runs, or has been stopped. */
  async function kept({ isStopped = true } = {}): Promise<string> {
    const folder = newFolder();
    const scene = await start(folder);
    for (let lamports = 5_000_000; lamports < 5_000_020; lamports += 1) {
      await scene.transfer(somebody(), lamports);
    }
    if (isStopped) await stop(scene);
    return folder;
  }

  function execute(folder: string, sql: string): string {
    const database = new DatabaseSync(join(folder, DATABASE));
    database.exec(sql);
    database.close();
    return folder;
  }

  function rewrite(path: string, change: (bytes: Buffer) => Uint8Array): void {
    writeFileSync(path, change(readFileSync(path)));
  }

  it.each<[string, () => Promise<string>, string]>([
    [
      'its log is damaged in the middle',
      async () => {
        const killed = copyAsKilled(await kept({ isStopped: false }));
        rewrite(join(killed, LOG), (log) => {
          log.writeUInt8(log.readUInt8(log.length >> 1) ^ 1, log.length >> 1);
          return log;
        });
        return killed;
      },
      `/${LOG} is damaged`,
    ],
    [
      'an account in it was changed',
      async () => execute(await kept(), 'update accounts set checksum = checksum + 1'),
      `/${DATABASE} is damaged`,
    ],
    [
      'it is truncated',
      async () => {
        const folder = await kept();
        rewrite(join(folder, DATABASE), (bytes) => bytes.subarray(0, bytes.length - 20_000));
        return folder;
      },
      `/${DATABASE} is damaged`,
    ],
    [
      'it holds something else',
      async () => {
        const folder = newFolder();
        writeFileSync(join(folder, DATABASE), 'hello');
        return folder;
      },
      `/${DATABASE}`,
    ],
    [
      'another release wrote it',
      async () => execute(await kept(), 'pragma user_version = 99'),
      'has files of version 99',
    ],
    [
      'another process has it open',
      () => kept({ isStopped: false }),
      'Another process has the ledger',
    ],
  ])('is refused when %s', async (_case, make, words) => {
    await expect(start(await make())).rejects.toThrow(words);
  });

  it('with another program’s database can be used as soon as that is gone', async () => {
    const folder = execute(newFolder(), 'create table other (number integer)');
    await expect(start(folder)).rejects.toThrow('is no ledger of this program');
    rmSync(join(folder, DATABASE));
    expect(await (await start(folder)).connection.getSlot()).toBeGreaterThan(0);
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

describe('a ledger whose disk is full', () => {
  it('reports it, keeps its data, and resumes when there is space', async () => {
    const folder = newFolder();
    const limits: ((pages: number) => void)[] = [];
    const scene = await start(folder, {
      onStoreOpen: ({ limitPages }: { limitPages: (pages: number) => void }) =>
        limits.push(limitPages),
    });
    const kept = somebody();
    await scene.transfer(kept, 5_000_000);
    // SQLite takes the present size for the least.
    for (const limit of limits) limit(1);
    const lost = somebody();
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
