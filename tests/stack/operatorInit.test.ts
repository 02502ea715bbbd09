import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseEnv } from 'node:util';
import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { Keypair, LAMPORTS_PER_SOL, PublicKey } from '@solana/web3.js';
import {
  createAddresses,
  fetchAllModels,
  fetchConfig,
  fetchGateway,
  gatewaySigners,
} from '../../programs/client/index.ts';
import { createMint } from '../../stack/operator.ts';
import { MACHINE_ENVIRONMENT, PROJECT_FOLDER } from '../../testing/childProcess.ts';
import { LONG_BLOCKHASH_MS, startLedger, type TestLedger } from '../../testing/ledger/ledger.ts';
import { createStory } from '../../testing/story.ts';

jest.setTimeout(120_000);

/** In November 2026, as tests/docs/rent.test.ts has it. */
const MAINNET_LAMPORTS_PER_BYTE = 5_080;

const MAIN = join(PROJECT_FOLDER, 'stack/deployment/main.ts');
let ledger: TestLedger;
let folder: string;

beforeAll(async () => {
  ledger = await startLedger({ blockhashMs: LONG_BLOCKHASH_MS });
  folder = mkdtempSync(join(tmpdir(), 'operator-init-'));
});

afterAll(async () => {
  await ledger?.close();
  rmSync(folder, { recursive: true });
});

/** Runs it as `npm run operator:init` does. */
function init(...args: string[]) {
  const options = { cwd: folder, env: { ...MACHINE_ENVIRONMENT } };
  return new Promise<{ code: number; output: string; error: string }>((resolve) => {
    execFile(process.execPath, [MAIN, ...args], options, (failure, output, error) => {
      resolve({ code: Number(failure?.code ?? 0), output, error });
    });
  });
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
    const { code, output, error } = await init('--rpc', ledger.rpcUrl, '--dir', 'new');
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
    const { code, error } = await init('--rpc', ledger.rpcUrl, '--dir', 'new');
    expect(code).toBe(2);
    expect(error).toMatch(/^\nBuild and deploy the program/);
    expect(read('new')).toEqual(keys);
  });
});

describe('npm run operator:init where the program is deployed', () => {
  const it = createStory();
  const [credit, stake] = [Keypair.generate(), Keypair.generate()];
  const mints = () => [
    ...['--credit-mint', credit.publicKey.toBase58()],
    ...['--stake-mint', stake.publicKey.toBase58()],
  ];
  const addresses = createAddresses();

  it('asks for the mints before it initializes', async () => {
    mkdirSync(join(folder, 'own'));
    const path = join(folder, 'own/upgrade-authority.json');
    writeFileSync(path, JSON.stringify([...ledger.payer.secretKey]), { mode: 0o600 });
    const operator = { rpc: ledger.rpc, authority: ledger.payer };
    await Promise.all([createMint(operator, credit), createMint(operator, stake)]);
    const { code, error } = await init('--rpc', ledger.rpcUrl, '--dir', 'own');
    expect(code).toBe(2);
    expect(error).toContain('--credit-mint <address> --stake-mint <address>');
    expect(await fetchConfig(ledger.connection, addresses.config)).toBeNull();
  });

  it('sets up config, catalog and gateway, funds payers, and writes settings', async () => {
    const { code, error } = await init('--rpc', ledger.rpcUrl, '--dir', 'own', ...mints());
    expect([code, error]).toEqual([0, '']);
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
    const { code, output } = await init('--rpc', ledger.rpcUrl, '--dir', 'own');
    expect(code).toBe(0);
    expect(output).toMatch(/^catalog +8 models, of which 0 new$/m);
    expect(read('own')).toEqual(files);
    expect(await ledger.connection.getBalance(ledger.payer.publicKey)).toBe(lamports);
  });
});

describe('npm run operator:init', () => {
  it.each<[string, () => string[], RegExp]>([
    [
      'no node answers',
      () => ['--rpc', 'http://127.0.0.1:9'],
      /^\nThe ledger's node at \S+ cannot be reached: .+\.$/,
    ],
    ['--rpc is no address', () => ['--rpc', 'localhost'], /--rpc is no http or https address\.$/],
    [
      'a file is in the place of its folder',
      () => ['--rpc', ledger.rpcUrl, '--dir', 'file'],
      /^\n--dir: the folder file cannot be written to \(EEXIST\), since a file is in its place/,
    ],
    [
      'a key file holds none',
      () => ['--rpc', ledger.rpcUrl, '--dir', 'broken'],
      /^\nbroken\/arbiter\.json must be a secret key: a JSON array of 64 bytes, and this has 2\.$/,
    ],
    [
      'the program is another’s',
      () => [
        '--rpc',
        ledger.rpcUrl,
        '--dir',
        'other',
        '--program',
        createAddresses().programId.toBase58(),
      ],
      /^\nThe upgrade authority of \w+ is \w+, not \w+ of upgrade-authority\.json/,
    ],
    [
      'one mint is missing',
      () => ['--rpc', ledger.rpcUrl, '--dir', 'new', '--stake-mint', PublicKey.default.toBase58()],
      /^\n--credit-mint and --stake-mint go together\.$/,
    ],
  ])('ends with one sentence when %s', async (_case, args, sentence) => {
    writeFileSync(join(folder, 'file'), '');
    mkdirSync(join(folder, 'broken'), { recursive: true });
    writeFileSync(join(folder, 'broken/arbiter.json'), '[1,2]', { mode: 0o600 });
    const given = args();
    const { code, error } = await init(
      ...given,
      ...(given.includes('--dir') ? [] : ['--dir', 'x']),
    );
    expect([code, error.trimEnd()]).toEqual([1, expect.stringMatching(sentence)]);
  });
});
