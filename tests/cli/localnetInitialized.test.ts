import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, afterEach, describe, expect, it } from '@jest/globals';
import { Connection, Keypair, PublicKey } from '@solana/web3.js';
import { connectPooledRpc } from '../../common/net/pooledRpc.ts';
import {
  fetchConfig,
  fetchCreditAccount,
  fetchJob,
  fetchModel,
  fetchWorker,
  workerModels,
} from '../../programs/client/accounts.ts';
import { createAddresses } from '../../programs/client/addresses.ts';
import { jobLock } from '../../programs/client/instructions.ts';
import { createJobId } from '../../programs/client/jobId.ts';
import { submit } from '../../stack/operator.ts';
import { SVC_MAIN } from '../../testing/childProcess.ts';
import { runCli } from '../../testing/cli.ts';
import { readClockSeconds } from '../../testing/ledger/ledger.ts';
import { needs } from '../../testing/machine/needs.ts';
import { killStarted, startLocalnet, startPrinting } from './localnetCommand.ts';

const folder = mkdtempSync(join(tmpdir(), 'svc-localnet-initialized-'));
const addresses = createAddresses();
const PAGE = fileURLToPath(new URL('../../docs/localnet.md', import.meta.url));
const keyOf = (secret: readonly number[]) => Keypair.fromSecretKey(Uint8Array.from(secret));

afterEach(killStarted);
afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe('svc localnet --initialized', () => {
  it('sets the program up, so that its keys lock a job', async () => {
    const file = join(folder, 'ledger.json');
    const { child, rpcUrl, said } = await startLocalnet('--initialized', file);
    expect(said).toContain(`addresses and keys in ${file}`);
    expect(statSync(file).mode & 0o777).toBe(0o600);
    const { keys, workers, ...described } = JSON.parse(readFileSync(file, 'utf8'));
    expect(described.rpcUrl).toBe(rpcUrl);
    const connection = new Connection(rpcUrl, 'confirmed');
    const [authority, signer, wallet] = [
      ...[keys.authority, keys.signer, keys.wallet].map(keyOf),
    ] as [Keypair, Keypair, Keypair];
    const gateway = new PublicKey(described.gateway);
    const creditAccount = addresses.creditAccount(wallet.publicKey);

    const config = await fetchConfig(connection, addresses.config);
    expect(config?.authority).toEqual(authority.publicKey);
    expect(config?.creditMint.toBase58()).toBe(described.creditMint);
    expect(config?.stakeMint.toBase58()).toBe(described.stakeMint);
    const worker = await fetchWorker(connection, new PublicKey(workers[0].address));
    expect(worker?.proofKey).toEqual(keyOf(workers[0].proofKey).publicKey);
    expect(worker && workerModels(worker)).toHaveLength(described.models.length);

    const modelId = described.models[0] as string;
    const model = await fetchModel(connection, addresses.model(modelId));
    const nowMs = Number(await readClockSeconds(connection)) * 1_000;
    const { bytes: jobId, address } = createJobId({ nowMs, creditAccount });
    const lock = jobLock({
      payer: signer.publicKey,
      signer: signer.publicKey,
      gateway,
      wallet: wallet.publicKey,
      modelId,
      jobId,
      tokenLimit: 500,
      maxCredits: BigInt(model?.creditsPerRequest ?? 0),
    });
    await submit({ rpc: connectPooledRpc({ url: rpcUrl }), authority: signer }, [lock]);
    const job = await fetchJob(connection, address);
    expect(job?.status).toBe('pending');
    expect(await fetchCreditAccount(connection, creditAccount)).toMatchObject({
      spender: gateway,
      availableCredits: 9_960n,
    });
    child.kill('SIGTERM');
    expect(await once(child, 'exit')).toEqual([0, null]);
    expect(existsSync(file)).toBe(false);
  });

  needs('jq').it('has keys that other commands take, by the lines of the page', async () => {
    const file = join(folder, 'described.json');
    const { rpcUrl } = await startLocalnet('--initialized', file);
    const [, lines = ''] =
      /`--signer` takes it:\n\n```console\n(.+?)```/s.exec(readFileSync(PAGE, 'utf8')) ?? [];
    const script = lines
      .replaceAll('$ (umask', '(umask')
      .replaceAll('$ npx --no svc', `'${process.execPath}' '${SVC_MAIN}'`)
      .replaceAll('.svc/localnet.json', file)
      .replaceAll('.svc/wallet.json', join(folder, 'wallet.json'))
      .replaceAll('http://127.0.0.1:8899', rpcUrl);
    const { stdout } = await promisify(execFile)('sh', ['-ec', script]);
    expect(stdout).toMatch(/^10,?000 credits available/);
  });

  it('prints the JSON alone without a file, and keeps its set-up with a ledger', async () => {
    const kept = ['--data-dir', join(folder, 'kept')];
    const described = async () => {
      const ledger = await startPrinting(...kept);
      expect(ledger.said).toContain('addresses and keys in the JSON');
      const { rpcUrl, wsUrl, ...others } = JSON.parse(await ledger.end());
      return others;
    };
    const first = await described();
    expect(first).toMatchObject({ models: expect.arrayContaining(['qwen3-8b']) });
    expect(await described()).toEqual(first);

    const payer = join(folder, 'payer.json');
    writeFileSync(payer, JSON.stringify([...Keypair.generate().secretKey]), { mode: 0o600 });
    const owner = keyOf(first.keys.authority).publicKey;
    expect(await refused('--initialized', '--payer', payer, ...kept)).toBe(
      `The program on this ledger belongs to ${owner}. Name that key: --payer <file>\n`,
    );
  });

  it('overwrites no other file', async () => {
    const key = join(folder, 'key.json');
    writeFileSync(key, '[1]');
    expect(await refused('--initialized', key)).toBe(
      `${key} holds something else: name another file after --initialized.\n`,
    );
    expect(readFileSync(key, 'utf8')).toBe('[1]');
  });
});

async function refused(...words: string[]): Promise<string> {
  const { code, error } = await runCli(['localnet', '--port', '0', ...words]);
  expect(code).toBe(1);
  return error;
}
