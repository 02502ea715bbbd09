import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { open, readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Keypair } from '@solana/web3.js';
import { MACHINE_ENVIRONMENT, SVC_MAIN } from '../../testing/childProcess.ts';
import { runCli } from '../../testing/cli.ts';
import { createMirrorDatabase, type MirrorDatabase } from '../../testing/indexer/mirrorDatabase.ts';
import { needs } from '../../testing/machine/needs.ts';

const PACKAGE_MAIN = fileURLToPath(new URL('../../cli/packageMain.ts', import.meta.url));
const ROOT = new URL('../../', import.meta.url).href;
/** Where every write fails for want of space; only Linux has it. */
const FULL_DEVICE = '/dev/full';
/** A database that cannot be reached. */
const AWAY = { DATABASE_URL: 'postgres://svc@127.0.0.1:1/svc' };
/** Prints on standard error every file of the project that is loaded. */
const TELLING_LOADS = `data:text/javascript,${encodeURIComponent(`
  import { registerHooks } from 'node:module';
  registerHooks({ load(url, context, next) {
    if (url.startsWith(${JSON.stringify(ROOT)})) console.error(url);
    return next(url, context);
  } });
`)}`;

/** Runs `svc` as a process of its own. */
async function svc(
  args: string[],
  options: { env?: object; node?: string[]; stdout?: number; main?: string } = {},
) {
  const { env = {}, node = [], stdout = 'pipe', main = SVC_MAIN } = options;
  const child = spawn(process.execPath, [...node, main, ...args], {
    env: { ...MACHINE_ENVIRONMENT, ...env },
    stdio: ['ignore', stdout, 'pipe'],
  });
  const [output, error, [code]] = await Promise.all([
    child.stdout ? text(child.stdout) : '',
    child.stderr ? text(child.stderr) : '',
    once(child, 'exit') as Promise<[number]>,
  ]);
  return { output, error, code };
}

/** The commands that a help page lists. */
async function commandsOf(main: string, ...args: string[]): Promise<string[]> {
  const { output } = await svc([...args, '--help'], { main });
  return [...output.matchAll(/^ {2}([a-z-]+).* {2}\S/gm)].map(([, name = '']) => name).sort();
}

/** The top folders of the project from which a command loads anything. */
async function foldersLoadedBy(...args: string[]): Promise<string[]> {
  const { error } = await svc(args, { node: ['--import', TELLING_LOADS] });
  const files = error.split('\n').filter((line) => line.startsWith(ROOT));
  const folders = files.map((url) => url.slice(ROOT.length).split('/')[0] ?? '');
  return [...new Set(folders)].filter((folder) => folder !== 'node_modules').sort();
}

describe('svc', () => {
  it('says its version', async () => {
    const { version } = JSON.parse(await readFile(new URL('cli/package.json', ROOT), 'utf8'));
    expect(await svc(['--version'])).toEqual({ output: `${version}\n`, error: '', code: 0 });
  });

  it('lists every verb, and every verb has a uniform help page', async () => {
    const { output: list } = await runCli(['--help']);
    const [, commands = ''] = list.split('Commands:\n');
    const verbs = [...commands.matchAll(/^ {2}([a-z-]+).*? {2,}(\S.*)$/gm)]
      .map(([, verb = '', line = '']) => [verb, line] as const)
      .filter(([verb]) => verb !== 'help');
    expect(verbs.map(([verb]) => verb).join(' ')).toBe(
      'keygen credits key verify webhooks alerts audit worker model send token-account localnet ' +
        'keys indexer disputes canary migrate roles',
    );
    for (const [verb, line] of verbs) {
      const { output, error, code } = await runCli([verb, '--help']);
      expect({ error, code }).toEqual({ error: '', code: 0 });
      expect(output).toMatch(new RegExp(`^Usage: svc ${verb} `));
      expect(output).toContain(line);
    }
  });

  it('lists every command of a checkout in the package too', async () => {
    for (const words of [[], ['webhooks']]) {
      const commands = await commandsOf(SVC_MAIN, ...words);
      expect(commands).toContain('help');
      expect(await commandsOf(PACKAGE_MAIN, ...words)).toEqual(commands);
    }
  });

  it('never repeats a secret that it cannot use', async () => {
    const secret = 'opensesame1234';
    const node = ['--rpc', 'http://127.0.0.1:1'];
    const refusals = [
      { args: ['send', 'pause_set', ...node, '--signer', secret], names: '--signer' },
      { args: ['send', 'pause_set', '--rpc', `node/?api-key=${secret}`], names: '--rpc' },
      { args: ['send', 'pause_set', ...node, `--signr=${secret}`], names: '--signr' },
      { args: ['token-account', ...node, '--signer', secret], names: '--signer' },
      { args: ['credits', 'buy', '5', ...node, '--signer', secret], names: '--signer' },
      { args: ['key', 'create', '--signer', secret], names: '--signer' },
      { args: ['localnet', '--payer', secret], names: '--payer' },
      { args: [`--signer='${secret}'`], names: '--signer' },
      { args: [`--signer=1234\n${secret}`], names: '--signer' },
      { args: ['audit', '--rpc', `node/?api-key=${secret}`], names: '--rpc' },
      { args: ['indexer', 'reconcile', '--rpc', `node/?api-key=${secret}`], names: '--rpc' },
      {
        args: ['indexer', 'reconcile'],
        env: { SOLANA_RPC_URL: `node/?api-key=${secret}` },
        names: 'SOLANA_RPC_URL',
      },
      ...[`svc:${secret}/1@127.0.0.1:1`, `svc:1234/${secret}@127.0.0.1:1`].map((database) => ({
        args: ['keys', 'list'],
        env: { DATABASE_URL: `postgres://${database}/svc` },
        names: 'DATABASE_URL',
      })),
    ];
    for (const { args, env = {}, names } of refusals) {
      const { output, error, code } = await runCli(args, { env });
      expect({ output, code }).toEqual({ output: '', code: 1 });
      expect(error).toContain(names);
      expect(error).toMatch(/^.+\n$/);
      for (const part of [secret, '1234']) expect(error).not.toContain(part);
    }
  });

  const away = ['--rpc', 'http://127.0.0.1:1'];
  const signing = `--signer ${JSON.stringify([...Keypair.generate().secretKey])}`;
  const malformed = { SOLANA_RPC_URL: 'http://127.0.0.1:1', SVC_PROGRAM_ID: 'nonsense' };
  it.each<[string, string, Record<string, string>?]>([
    ['verfy', 'Did you mean verify?'],
    ['indexer rebuild', 'SVC_PROGRAM_ID: not a ledger address', malformed],
    ['indexer reconcile', 'SVC_PROGRAM_ID: not a ledger address', malformed],
    ['keys list', 'The database at 127.0.0.1:1 cannot be reached.', AWAY],
    [`send credit_open gatway=1 ${away.join(' ')}`, 'credit_open has no gatway. See '],
    ['model card none.json', 'ENOENT'],
    [`key create ${away.join(' ')}`, '--service'],
    ['credits limits', "Say where: --service, or the ledger's node with --rpc."],
    ['credits limits --service ftp://x', '--service is no http or https address.'],
    ['credits limits --service http://127.0.0.1:9', 'The service at 127.0.0.1:9 cannot be reached'],
    ['canary --model any --wallet 11111111111111111111111111111111', 'SOLANA_RPC_URL', AWAY],
    ['webhooks listen --forward-to localhost:3000', '--forward-to is no http or https address.'],
    ['localnet --port 65535', 'from 0 to 65534'],
    ['localnet --slot-ms 0', 'from 1 to 10000'],
    ['localnet --slot-ms fast', 'from 1 to 10000'],
    ['localnet --confirm-slots 32', 'from 0 to 31'],
    ['localnet --profile testnet', 'development, mainnet'],
    ['localnet --port 0 --clone 11111111111111111111111111111111', '--clone needs a node: --url'],
    ['localnet --port 0 --bpf-program memo none.so', "'memo' is no address"],
  ])('refuses svc %s with the reason: %s', async (words, reason, env = {}) => {
    const args = words.startsWith('credits') ? `${words} ${signing}` : words;
    const { code, output, error } = await runCli(args.split(' '), { env });
    expect([code, output]).toEqual([1, '']);
    expect(error).toContain(reason);
  });

  it("reports that a worker's folder has no ledger address where one must be", async () => {
    const folder = mkdtempSync(join(tmpdir(), 'svc-worker-'));
    writeFileSync(join(folder, 'worker.env'), 'SOLANA_RPC_URL=http://127.0.0.1:1\n');
    const { error, code } = await runCli(['worker', 'status', '--dir', folder]);
    rmSync(folder, { recursive: true });
    expect(code).toBe(1);
    expect(error).toContain('It must be a ledger address.');
  });

  it('loads only what a verb needs', async () => {
    expect(await foldersLoadedBy('verify', '--help')).toEqual(['cli', 'common', 'programs']);
    expect(await foldersLoadedBy('audit', '--help')).toEqual(['cli', 'common', 'programs']);
    expect(await foldersLoadedBy('keys', '--help')).toEqual(['api', 'cli', 'common', 'stack']);
    expect(await foldersLoadedBy('--help')).toContain('indexer');
  });
});

describe('svc keys', () => {
  let database: MirrorDatabase;
  beforeAll(async () => {
    database = await createMirrorDatabase();
  });
  afterAll(() => database?.close());

  needs('a full device').it('fails where the key that it made cannot be written', async () => {
    const full = await open(FULL_DEVICE, 'w');
    const wallet = Keypair.generate().publicKey.toBase58();
    const env = { DATABASE_URL: database.databaseUrl };

    const args = ['keys', 'create', '--wallet', wallet];
    const { code, error } = await svc(args, { env, stdout: full.fd });
    await full.close();

    expect(code).toBe(1);
    expect(error).toContain('Standard output cannot be written (ENOSPC).\n');
  });
});
