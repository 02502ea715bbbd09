import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { createInterface } from 'node:readline';
import { parseEnv } from 'node:util';
import { afterAll, afterEach, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { Keypair } from '@solana/web3.js';
import { SETTINGS } from '../../stack/parts.ts';
import { findFreePort } from '../../stack/port.ts';
import { PROJECT_FOLDER } from '../../testing/childProcess.ts';
import { needs } from '../../testing/machine/needs.ts';
import { runScript } from '../../testing/machine/shell.ts';
import { type RunningService, startRunningService } from '../../testing/service/runningService.ts';
import { codeBlocks, readDocuments } from '../docs/documents.ts';

jest.setTimeout(120_000);

const UNITS = join(PROJECT_FOLDER, 'deploy/systemd');
const CHECKOUT = PROJECT_FOLDER.replace(/\/$/, '');
const units = readdirSync(UNITS);
/** `systemd-analyze security` calls up to 10 unsafe; ours may be no worse than this. */
const EXPOSURE_MAX = 3;

/** Commands that would change this machine, or download; `systemctl` is noted. */
const PRELUDE = `
git() { :; }
npm() { :; }
systemctl() { printf '%s\\n' "$*" >> "$HOME/systemctl"; }
`;

let service: RunningService;
let folder: string;
const running: ChildProcess[] = [];

beforeAll(async () => {
  service = await startRunningService({ workers: ['honest'] });
  folder = mkdtempSync(join(tmpdir(), 'systemd-'));
  for (const name of ['keys', 'systemd']) mkdirSync(join(folder, name));
  symlinkSync(join(PROJECT_FOLDER, 'deploy'), join(folder, 'deploy'));
  const { apiEnvironment, indexerEnvironment, ledger } = service;
  const { SVC_GATEWAY, SOLANA_WS_URL } = apiEnvironment;
  const settings = {
    SOLANA_RPC_URL: ledger.rpcUrl,
    SOLANA_WS_URL,
    SVC_GATEWAY,
    SVC_ALLOW_LOOPBACK: 'true',
    WORKER_AUTHORITY: Keypair.generate().publicKey.toBase58(),
    WORKER_GATEWAYS: SVC_GATEWAY,
    WORKER_ENGINE: 'builtin',
    WORKER_PORT: String(await findFreePort()),
  };
  const lines = Object.entries(settings).map(([name, value]) => `${name}=${value}\n`);
  const keys = {
    'hot-signer.json': apiEnvironment.SVC_SIGNER_KEY,
    'crank.json': indexerEnvironment.SVC_CRANK_KEY,
    'proof-key.json': JSON.stringify([...Keypair.generate().secretKey]),
    'secrets.key': `${apiEnvironment.SVC_SECRETS_KEY}\n`,
    'service.env': lines.join(''),
  };
  for (const [name, text] of Object.entries(keys)) {
    writeFileSync(join(folder, 'keys', name), String(text), { mode: 0o600 });
  }
  await install(String(apiEnvironment.DATABASE_URL));
});

/** Does what the page says, with the folders of this test in place of the machine's. */
async function install(databaseUrl: string): Promise<void> {
  const page = readDocuments().find(({ path }) => path === 'docs/deploying.md');
  const block = page && codeBlocks(page, ['sh']).find((text) => text.includes('systemctl'));
  const script = `set -eu${PRELUDE}${block}`
    .replaceAll('/opt/svc', CHECKOUT)
    .replaceAll('/etc/svc', join(folder, 'svc'))
    .replaceAll('/etc/systemd/system', join(folder, 'systemd'));
  await runScript(script, {
    cwd: folder,
    env: {
      PATH: process.env.PATH,
      HOME: folder,
      DATABASE_URL: databaseUrl,
      SERVICE: 'https://api.example.com',
    },
  });
}

afterEach(async () => {
  for (const child of running.splice(0)) {
    if (child.exitCode !== null) continue;
    child.kill('SIGKILL');
    await once(child, 'exit');
  }
});

afterAll(async () => {
  await service?.close();
  rmSync(folder, { recursive: true });
});

interface Unit {
  /** Every value of a setting, in the order of the file. */
  all(name: string): string[];
  one(name: string): string;
}

/** Reads a unit as systemd does, with the folders of this test in place of the installed ones. */
function readUnit(file: string, instance: string): Unit {
  const specifiers: Record<string, string> = { i: instance, d: join(folder, 'credentials', file) };
  const settings = readFileSync(join(folder, 'systemd', file), 'utf8')
    .split('\n')
    .filter((line) => /^\w+=/.test(line))
    .map((line) => {
      const [name = '', ...value] = line.split('=');
      const text = value
        .join('=')
        .replaceAll('/opt/svc', CHECKOUT)
        .replaceAll('/etc/svc', join(folder, 'svc'))
        .replace(/%(.)/g, (_all, letter: string) => specifiers[letter] ?? `unknown %${letter}`);
      return { name, text };
    });
  const all = (name: string) =>
    settings.filter((each) => each.name === name).map(({ text }) => text);
  return {
    all,
    one(name) {
      const [text, ...others] = all(name);
      if (text === undefined || others.length > 0) throw new Error(`${file} has no one ${name}`);
      return text;
    },
  };
}

/** What systemd hands a unit's commands: its environment, and its credentials as files. */
function environmentOf(file: string, unit: Unit): Record<string, string> {
  const credentials = join(folder, 'credentials', file);
  mkdirSync(credentials, { recursive: true });
  for (const credential of unit.all('LoadCredential')) {
    const [name = '', path = ''] = credential.split(':');
    writeFileSync(join(credentials, name), readFileSync(path), { mode: 0o400 });
  }
  const own = unit.all('Environment').flatMap((line) => line.split(' '));
  return {
    PATH: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin',
    ...parseEnv(own.join('\n')),
    // The file goes before what the unit sets.
    ...parseEnv(readFileSync(unit.one('EnvironmentFile'), 'utf8')),
  } as Record<string, string>;
}

function start(command: string, unit: Unit, env: Record<string, string>): ChildProcess {
  const [program = '', ...args] = command.split(' ');
  const child = spawn(program, args, {
    cwd: unit.one('WorkingDirectory'),
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  running.push(child);
  return child;
}

describe('the chapter about systemd', () => {
  it('enables two APIs, two indexers and a worker, each with its unit', () => {
    const [reload, enable = ''] = readFileSync(join(folder, 'systemctl'), 'utf8').split('\n');
    expect(reload).toBe('daemon-reload');
    const enabled = enable.split(' ').slice(2);
    expect(enabled).toHaveLength(5);
    const files = enabled.map((name) => `${name.replace(/@.*/, '@')}.service`);
    expect([...new Set(files)].sort()).toEqual(units.toSorted());
  });

  it('leaves settings and keys to their owner alone', () => {
    const modes = [
      'service.env',
      ...readdirSync(join(folder, 'svc/keys')).map((name) => `keys/${name}`),
    ].map((name) => statSync(join(folder, 'svc', name)).mode & 0o777);
    expect(new Set(modes)).toEqual(new Set([0o600]));
  });
});

describe.each(units)('the unit %s', (file) => {
  const part = /svc-(\w+)/.exec(file)?.[1] as 'api' | 'indexer' | 'worker';

  it('sets only what its process knows', () => {
    const known = Object.keys(SETTINGS[part].shape);
    const own = readUnit(file, '1')
      .all('Environment')
      .flatMap((line) => line.split(' '));
    const names = own.map((pair) => (pair.split('=')[0] ?? '').replace(/_FILE$/, ''));
    expect(names.filter((name) => !known.includes(name))).toEqual([]);
  });

  needs('systemd-analyze').it('is read by systemd, and at most slightly exposed', () => {
    const copy = join(folder, basename(file));
    const text = readFileSync(join(UNITS, file), 'utf8');
    writeFileSync(copy, text.replaceAll('/opt/svc', CHECKOUT));
    const args = ['verify', '--man=no', copy];
    const { status, stderr } = spawnSync('systemd-analyze', args, { encoding: 'utf8' });
    expect([status, stderr]).toEqual([0, '']);
    const security = ['security', '--offline=true', join(UNITS, file)];
    const { stdout } = spawnSync('systemd-analyze', security, { encoding: 'utf8' });
    const exposure = Number(/exposure level for \S+: ([\d.]+)/.exec(stdout)?.[1]);
    expect(exposure).toBeLessThanOrEqual(EXPOSURE_MAX);
  });

  it('passes its check, starts as it says, and ends with 0', async () => {
    const port = await findFreePort();
    const unit = readUnit(file, String(port));
    const env = environmentOf(file, unit);
    const checking = start(unit.one('ExecStartPre'), unit, env);
    const said: string[] = [];
    checking.stdout?.on('data', (piece) => said.push(String(piece)));
    expect([await once(checking, 'close'), said.join('')]).toEqual([
      [0, null],
      expect.stringMatching(/^ok /),
    ]);

    const process = start(unit.one('ExecStart'), unit, env);
    const lines = createInterface({ input: process.stdout as NodeJS.ReadableStream });
    const [line] = (await once(lines, 'line')) as [string];
    const { ready, url } = JSON.parse(line) as { ready: boolean; url: string };
    expect(ready).toBe(true);
    // A template's port is its instance.
    if (file.includes('@')) expect(new URL(url).port).toBe(String(port));
    expect((await fetch(`${url}/health`)).status).toBe(part === 'worker' ? 503 : 200);
    process.kill('SIGTERM');
    expect(await once(process, 'exit')).toEqual([0, null]);
  });
});
