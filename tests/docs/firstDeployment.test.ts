import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { findFreePort } from '../../stack/port.ts';
import { MACHINE_ENVIRONMENT } from '../../testing/childProcess.ts';
import { createTestDatabase, type TestDatabase } from '../../testing/database/database.ts';
import { needs } from '../../testing/machine/needs.ts';
import { bashOn, drawValues } from '../../testing/machine/shell.ts';
import { createStory } from '../../testing/story.ts';
import { until } from '../../testing/until.ts';
import { checkout, codeBlocks, readDocuments } from './documents.ts';

// Its longest step takes ten seconds on a machine that does nothing else, and the page's a quarter
// of an hour at most.
jest.setTimeout(180_000);

const page = readDocuments().find(({ path }) => path === 'docs/deploying.md');
if (!page) throw new Error('docs/deploying.md is gone');
const blocks = codeBlocks(page, ['sh']);
const openssl = needs('openssl');
const proxied = needs('caddy', 'curl', 'jq');

/** The one block with these words, as it is on the page. */
function blockWith(words: string): string {
  const [block, ...others] = blocks.filter((text) => text.includes(words));
  if (block === undefined || others.length > 0) throw new Error(`No one block has ${words}`);
  return block;
}

/** The links of a folder to all of the checkout, so that nothing is written into that. */
function linkCheckout(): string {
  const folder = mkdtempSync(join(tmpdir(), 'first-deployment-'));
  for (const name of readdirSync(checkout)) {
    if (name === 'keys' || name === '.svc') continue;
    symlinkSync(join(checkout, name), join(folder, name));
  }
  return folder;
}

const modesIn = (folder: string): Set<number> =>
  new Set(readdirSync(folder).map((name) => statSync(join(folder, name)).mode & 0o777));

describe('docs/deploying.md, walked on the local ledger', () => {
  const it = createStory();
  let folder: string;
  let database: TestDatabase;
  const ports = new Map<string, number>();
  const started: ChildProcess[] = [];

  beforeAll(async () => {
    folder = linkCheckout();
    database = await createTestDatabase({ isEmpty: true });
  });

  afterAll(async () => {
    // What a shell runs in the background is of its group.
    const groups = started.map(({ pid }) => pid as number).filter(isGroupAlive);
    for (const group of groups) process.kill(-group, 'SIGTERM');
    await until(() => !groups.some(isGroupAlive));
    await database.close();
    rmSync(folder, { recursive: true });
  });

  /** With ports that are free here, and the database of this test. */
  async function translate(block: string): Promise<string> {
    for (const [port = ''] of block.matchAll(/\b8\d{3}\b/g)) {
      if (!ports.has(port)) ports.set(port, await findFreePort());
    }
    return drawValues(block, openssl)
      .replace(/\b8\d{3}\b/g, (port) => String(ports.get(port)))
      .replace('postgres://…', database.databaseUrl);
  }

  /** Starts a shell in the folder, and collects what it and all that it starts write. */
  async function shell(script: string, environment: Record<string, string> = {}) {
    const child = spawn(...bashOn(await translate(script), '-euc'), {
      cwd: folder,
      detached: true,
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { ...MACHINE_ENVIRONMENT, HOME: folder, ...environment },
    });
    started.push(child);
    const said: string[] = [];
    for (const stream of [child.stdout, child.stderr]) {
      stream.on('data', (piece) => said.push(String(piece)));
    }
    return { child, said: () => said.join('') };
  }

  /** Runs a script to its end; what it starts in the background goes on. @returns what it wrote */
  async function run(script: string): Promise<string> {
    const { child, said } = await shell(script);
    const [code] = await once(child, 'exit');
    if (code !== 0) throw new Error(`It ended (${code}): ${said()}${readLogs()}`);
    return said();
  }

  const readLogs = (): string =>
    readdirSync(folder)
      .filter((name) => name.endsWith('.log'))
      .map((name) => readFileSync(join(folder, name), 'utf8').slice(-2_000))
      .join('\n');

  it('starts the ledger with a key of its own', async () => {
    const { child, said } = await shell(blockWith('svc localnet'));
    await until(() => child.exitCode !== null || said().includes('Ctrl-C ends it.'));
    expect(said()).toContain('JSON-RPC');
  });

  it('makes the other keys, sets the program up, and keeps both when repeated', async () => {
    const key = readFileSync(join(folder, 'keys/upgrade-authority.json'), 'utf8');
    const first = await run(blockWith('--trial'));
    expect(first).toMatch(/^keys +made arbiter\.json, gateway-operator\.json, hot-signer\.json/m);
    expect(first).toMatch(/^config +initialized/m);
    expect(first).toMatch(/^catalog +8 models, of which 8 new/m);
    expect(readFileSync(join(folder, 'keys/upgrade-authority.json'), 'utf8')).toBe(key);
    expect(modesIn(join(folder, 'keys'))).toEqual(new Set([0o600]));
    const files = readKeys();

    const second = await run(blockWith('--trial'));
    expect(second).toMatch(/^keys +all in keys/m);
    expect(second).toMatch(/^catalog +8 models, of which 0 new/m);
    expect(readKeys()).toEqual(files);
  });

  const readKeys = (): string[] =>
    readdirSync(join(folder, 'keys')).map((name) =>
      readFileSync(join(folder, 'keys', name), 'utf8'),
    );

  it(
    'answers and verifies a paid job through Caddy, before two APIs',
    async () => {
      const address = blockWith('--trial').split('\n')[0] ?? '';
      const walk = [
        address,
        blockWith('run indexer/main.ts'),
        blockWith('caddy run'),
        blockWith('svc keys create'),
        `curl -fsS "$SERVICE/v1/models" -H "Authorization: Bearer $API_KEY"`,
      ];
      const said = await run(walk.join('\n'));
      expect(said).toContain('"object":"chat.completion"');
      expect(said).toContain('Everything that applies holds.');
      // Each model pins the card of the built-in engine, and the API has it.
      expect(said.match(/"card":\{/g)).toHaveLength(8);
      for (const port of ['8083', '8084']) {
        const response = await fetch(`http://127.0.0.1:${ports.get(port)}/ready`);
        expect([port, response.status]).toEqual([port, 200]);
      }
    },
    proxied.it,
  );
});

describe('the keys by hand', () => {
  it('are those that operator:init looks for', async () => {
    const folder = linkCheckout();
    const script = `${blockWith('keypair.ts')}
npm run --silent operator:init -- --rpc http://127.0.0.1:9 --dir keys || true`;
    const child = spawn(...bashOn(drawValues(script, openssl), '-euc'), {
      cwd: folder,
      stdio: ['ignore', 'pipe', 'inherit'],
      env: { ...MACHINE_ENVIRONMENT, HOME: folder },
    });
    let said = '';
    child.stdout.on('data', (piece) => {
      said += piece;
    });
    const [code] = await once(child, 'close');
    expect(code).toBe(0);
    expect(said).toMatch(/^keys +all in keys$/m);
    expect(readdirSync(join(folder, 'keys'))).toHaveLength(9);
    expect(modesIn(join(folder, 'keys'))).toEqual(new Set([0o600]));
    rmSync(folder, { recursive: true });
  });
});

/** Whether a process of the group runs: what has ended counts as gone, also before it is reaped. */
function isGroupAlive(id: number): boolean {
  return readdirSync('/proc').some((name) => {
    if (!/^\d+$/.test(name)) return false;
    try {
      const stat = readFileSync(`/proc/${name}/stat`, 'utf8');
      const [state, , group] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
      return group === String(id) && state !== 'Z';
    } catch {
      // It has ended already.
      return false;
    }
  });
}
