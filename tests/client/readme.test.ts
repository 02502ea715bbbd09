import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Keypair, LAMPORTS_PER_SOL } from '@solana/web3.js';
import { fetchCreditAccount } from '../../programs/client/accounts.ts';
import { formatJobId } from '../../programs/client/jobId.ts';
import {
  addresses,
  createJobScene,
  type JobScene,
  type LockedJob,
} from '../../testing/ledger/jobScene.ts';
import { checkout, codeBlocks, readDocuments } from '../docs/documents.ts';

const document = readDocuments().find(({ path }) => path === 'programs/client/README.md');
if (!document) throw new Error('programs/client/README.md is gone');
const [verifying = '', sending = ''] = codeBlocks(document, ['ts']);

let scene: JobScene;
let job: LockedJob;
/** A project that has the packages. */
let folder: string;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'readme-'));
  symlinkSync(join(checkout, 'node_modules'), join(folder, 'node_modules'));
  scene = await createJobScene();
  [job] = (await scene.lock({ count: 1, tokenLimit: 2_000 })) as [LockedJob];
  await scene.acknowledge(job.address);
  await scene.settle(job.address);
});

afterAll(async () => {
  await scene?.ledger.close();
  rmSync(folder, { recursive: true });
});

/** Runs code as it stands. @returns the lines that it prints */
async function run(code: string, ...args: string[]): Promise<string[]> {
  writeFileSync(join(folder, 'pasted.mts'), code);
  const command = ['pasted.mts', scene.ledger.rpcUrl, ...args];
  const { stdout } = await promisify(execFile)(process.execPath, command, { cwd: folder });
  return stdout.trim().split('\n');
}

describe("the client's README", () => {
  it('verifies a job in twelve lines, by its id or its address', async () => {
    expect(verifying.match(/^.+$/gm)?.length).toBeLessThanOrEqual(12);
    for (const named of [formatJobId(job.idBytes), job.address.toBase58()]) {
      const lines = await run(verifying, named);
      expect(lines.at(-1)).toBe('holds');
      expect(lines).toContainEqual(expect.stringMatching(/^proof\.signature holds \w+ signed/));
    }
  });

  it('sends a transaction, and prints how it ended', async () => {
    const wallet = Keypair.generate();
    await scene.ledger.fundLamports(wallet.publicKey, LAMPORTS_PER_SOL);
    writeFileSync(join(folder, 'wallet.json'), JSON.stringify([...wallet.secretKey]));

    const [printed = ''] = await run(sending);

    expect(printed).toMatch(/^landed [1-9A-HJ-NP-Za-km-z]{80,90}$/);
    const address = addresses.creditAccount(wallet.publicKey);
    const account = await fetchCreditAccount(scene.ledger.connection, address);
    expect(account?.wallet).toEqual(wallet.publicKey);
    // The account is there, so that it cannot be opened again.
    expect(await run(sending)).toEqual([expect.stringMatching(/^AlreadyInitialized /)]);
  });
});
