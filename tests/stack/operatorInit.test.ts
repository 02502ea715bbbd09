import { execFile } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseEnv } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Keypair, LAMPORTS_PER_SOL, PublicKey } from '@solana/web3.js';
import {
  createAddresses,
  fetchAllModels,
  fetchConfig,
  fetchGateway,
  gatewaySigners,
} from '../../programs/client/index.ts';
import { connectLedger } from '../../programs/client/verify/connection/connectLedger.ts';
import {
  ActionRequiredError,
  type DeploymentOptions,
  initializeDeployment,
} from '../../stack/deployment/initialize.ts';
import { createMint } from '../../stack/operator.ts';
import { MACHINE_ENVIRONMENT, PROJECT_FOLDER } from '../../testing/childProcess.ts';
import { LONG_BLOCKHASH_MS, startLedger, type TestLedger } from '../../testing/ledger/ledger.ts';
import { ownFolder } from '../../testing/ownFolder.ts';
import { createStory } from '../../testing/story.ts';

/** In November 2026, as tests/docs/prices.test.ts has it. */
const MAINNET_LAMPORTS_PER_BYTE = 5_080;

const MAIN = join(PROJECT_FOLDER, 'stack/deployment/main.ts');
const folder = ownFolder('operator-init');
let ledger: TestLedger;
beforeAll(async () => {
  ledger = await startLedger({ blockhashMs: LONG_BLOCKHASH_MS });
});
afterAll(() => ledger?.close());

/** Runs it as `npm run operator:init` does. */
function start(...args: string[]) {
  const options = { cwd: folder, env: { ...MACHINE_ENVIRONMENT } };
  return new Promise<{ code: number; output: string; error: string }>((resolve) => {
    const given = [MAIN, '--rpc', ledger.rpcUrl, ...args];
    execFile(process.execPath, given, options, (failure, output, error) => {
      resolve({ code: Number(failure?.code ?? 0), output, error });
    });
  });
}

/** The same in this process, without its command line. @returns the error that ends it */
async function init(dir: string, options: Partial<DeploymentOptions> = {}) {
  const connection = connectLedger(ledger.rpc);
  const deployment = { rpcUrl: `${ledger.rpcUrl}/`, dir, ...options };
  const before = process.cwd();
  process.chdir(folder);
  const lines: string[] = [];
  const report = (what: string, text: string) => lines.push(`${what} ${text}`);
  const initializing = initializeDeployment({ rpc: ledger.rpc, connection }, deployment, report);
  const error = await initializing.then(
    () => undefined,
    (reason: Error) => reason,
  );
  process.chdir(before);
  return { error, lines };
}

const read = (dir: string): Record<string, string> =>
  Object.fromEntries(
    readdirSync(join(folder, dir)).map((name) => [
      name,
      readFileSync(join(folder, dir, name), 'utf8'),
    ]),
  );

const addressIn = (dir: string, name: string): PublicKey => {
  const numbers = JSON.parse(readFileSync(join(folder, dir, name), 'utf8')) as number[];
  return Keypair.fromSecretKey(Uint8Array.from(numbers)).publicKey;
};

describe('npm run operator:init on a ledger without the program', () => {
  const it = createStory();
  let keys: Record<string, string>;

  it('makes nine keys, and says what to fund and to deploy, by commands', async () => {
    const { code, output, error } = await start('--dir', 'new');
    keys = read('new');
    expect(Object.keys(keys).sort()).toEqual([
      ...['arbiter.json', 'crank.json', 'escrow.json', 'gateway-operator.json'],
      ...['hot-signer.json', 'proof-key.json', 'secrets.key', 'upgrade-authority.json'],
      'worker-authority.json',
    ]);
    expect(code).toBe(2);
    expect(output).toMatch(/^keys +made upgrade-authority\.json, /);
    const authority = addressIn('new', 'upgrade-authority.json');
    const program = addressIn('new', 'escrow.json');
    expect(error).toMatch(/ +1 {2}hot signer\n +0\.1 {2}crank\n/);
    expect(error).toContain(`--program-id ${program} --out escrow-build`);
    expect(error).toContain('--keypair new/upgrade-authority.json --program-id new/escrow.json');
    const page = readFileSync(join(PROJECT_FOLDER, 'docs/deploying.md'), 'utf8');
    for (const text of [error, page]) expect(text).toContain('--max-len 262144');
    const [, sol] = /solana transfer \w+ ([\d.]+) --allow/.exec(error) ?? [];
    expect(error).toContain(`solana airdrop ${sol} ${authority} --url "$RPC"`);
    // What is no rent: 1 SOL for the hot signer, 0.1, 0.02, and as much for fees.
    const perByte = (await ledger.connection.getMinimumBalanceForRentExemption(0)) / 128;
    const onMainnet = ((Number(sol) - 1.14) * MAINNET_LAMPORTS_PER_BYTE) / perByte + 1.14;
    expect(page).toContain(`${onMainnet.toFixed(1)} SOL on mainnet`);
    await ledger.fundLamports(authority, Number(sol) * LAMPORTS_PER_SOL);
  });

  it('goes on once that is paid: only the program is missing', async () => {
    const { error } = await init('new');
    expect(error).toBeInstanceOf(ActionRequiredError);
    expect(error?.message).toMatch(/^Build and deploy the program/);
    expect(read('new')).toEqual(keys);
  });
});

describe('npm run operator:init where the program is deployed', () => {
  const it = createStory();
  const [credit, stake] = [Keypair.generate(), Keypair.generate()];
  const mints = { credit: credit.publicKey, stake: stake.publicKey };
  const addresses = createAddresses();

  it('asks for the mints before it initializes', async () => {
    mkdirSync(join(folder, 'own'));
    const path = join(folder, 'own/upgrade-authority.json');
    writeFileSync(path, JSON.stringify([...ledger.payer.secretKey]), { mode: 0o600 });
    const operator = { rpc: ledger.rpc, authority: ledger.payer };
    await Promise.all([createMint(operator, credit), createMint(operator, stake)]);
    const { error } = await init('own');
    expect(error).toBeInstanceOf(ActionRequiredError);
    expect(error?.message).toContain('--credit-mint <address> --stake-mint <address>');
    expect(await fetchConfig(ledger.connection, addresses.config)).toBeNull();
  });

  it('sets up config, catalog and gateway, funds payers, and writes settings', async () => {
    expect(await init('own', { mints })).toMatchObject({ error: undefined });
    const { connection } = ledger;
    const config = await fetchConfig(connection, addresses.config);
    expect(config?.creditMint).toEqual(credit.publicKey);
    expect(config?.arbiter).toEqual(addressIn('own', 'arbiter.json'));
    expect(await fetchAllModels(connection, { commitment: 'confirmed' })).toHaveLength(8);
    const gateway = addresses.gateway(addressIn('own', 'gateway-operator.json'));
    const opened = await fetchGateway(connection, gateway);
    expect(opened && gatewaySigners(opened)).toEqual([addressIn('own', 'hot-signer.json')]);
    expect(await connection.getBalance(addressIn('own', 'crank.json'))).toBe(100_000_000);
    expect(parseEnv(read('own')['service.env'] ?? '')).toEqual({
      SOLANA_RPC_URL: `${ledger.rpcUrl}/`,
      SVC_PROGRAM_ID: addresses.programId.toBase58(),
      SVC_GATEWAY: gateway.toBase58(),
      WORKER_AUTHORITY: addressIn('own', 'worker-authority.json').toBase58(),
      WORKER_GATEWAYS: gateway.toBase58(),
    });
  });

  it('sends and writes nothing when it runs again', async () => {
    const files = read('own');
    const lamports = await ledger.connection.getBalance(ledger.payer.publicKey);
    const { error, lines } = await init('own');
    expect(error).toBeUndefined();
    expect(lines).toContain('catalog 8 models, of which 0 new');
    expect(read('own')).toEqual(files);
    expect(await ledger.connection.getBalance(ledger.payer.publicKey)).toBe(lamports);
  });
});

describe('npm run operator:init', () => {
  it('ends with one sentence when the program is another’s', async () => {
    const { error } = await init('other', { programId: createAddresses().programId });
    expect(error?.message).toMatch(
      /^The upgrade authority of \w+ is \w+, not \w+ of upgrade-authority\.json/,
    );
  });

  it('ends with one sentence when one mint is missing', async () => {
    const { code, error } = await start('--dir', 'x', '--stake-mint', PublicKey.default.toBase58());
    expect([code, error]).toEqual([1, '\n--credit-mint and --stake-mint go together.\n']);
  });
});
