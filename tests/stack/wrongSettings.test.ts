import { execFile, spawnSync } from 'node:child_process';
import { chmodSync, chownSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { Keypair } from '@solana/web3.js';
import { loadConfig as loadApiConfig } from '../../api/config.ts';
import { ConfigError } from '../../common/config.ts';
import { listenAt } from '../../common/net/urls.ts';
import { loadConfig as loadIndexerConfig } from '../../indexer/config.ts';
import { loadConfig as loadLocalnetConfig } from '../../localnet/config.ts';
import { loadConfig as loadStackConfig } from '../../stack/config.ts';
import { MACHINE_ENVIRONMENT, PROJECT_FOLDER } from '../../testing/childProcess.ts';
import { type RunningService, startRunningService } from '../../testing/service/runningService.ts';
import { loadConfig as loadWorkerConfig } from '../../worker/config.ts';
import { startTransactionPooler } from '../common/transactionPooler.ts';

jest.setTimeout(60_000);

const OTHER_USER = 10_001;
const isRoot = process.getuid?.() === 0;
/** Root may read and write everything, so it starts those as another user. */
const canDropRights = !isRoot || spawnSync('setpriv', ['--version']).status === 0;
const SECRET = 'hunter2';

let service: RunningService;
let pooler: Awaited<ReturnType<typeof startTransactionPooler>>;
let folder: string;
let occupied: Server;
let takenPort: string;
const at = (name: string): string => join(folder, name);

beforeAll(async () => {
  service = await startRunningService({ workers: [] });
  pooler = await startTransactionPooler(databaseUrl(() => undefined)(), {
    servers: 2,
    takes: 'last',
  });
  await service.pool.query(`drop role if exists ${STRANGER}`);
  await service.pool.query(`create role ${STRANGER} login password '${SECRET}'`);
  folder = mkdtempSync(join(tmpdir(), 'wrong-settings-'));
  chmodSync(folder, 0o755);
  occupied = createServer();
  const settings = { host: 'HOST', port: 'PORT' };
  takenPort = String((await listenAt(occupied, { host: '127.0.0.1', port: 0, settings })).port);
  const numbers = [...Keypair.generate().secretKey];
  const files: [name: string, text: string, mode: number][] = [
    ['short.json', JSON.stringify(numbers.slice(1)), 0o600],
    ['other-users.json', JSON.stringify(numbers), 0o600],
    ['open.json', JSON.stringify(numbers), 0o644],
    ['prose.json', `${SECRET} is no key`, 0o600],
    ['file', '', 0o644],
  ];
  for (const [name, text, mode] of files) writeFileSync(at(name), text, { mode });
  // Where it is not root's, its owner may not read it.
  if (!isRoot) chmodSync(at('other-users.json'), 0o000);
  for (const name of ['a-folder', 'damaged', 'no-place']) mkdirSync(at(name));
  writeFileSync(at('damaged/authority.json'), '[]', { mode: 0o600 });
  writeFileSync(at('no-place/.svc'), '');
  mkdirSync(at('locked'), { mode: isRoot ? 0o755 : 0o555 });
  mkdirSync(at('place'));
  if (isRoot) chownSync(at('place'), OTHER_USER, OTHER_USER);
});

afterAll(async () => {
  occupied?.close();
  await pooler?.close();
  await service?.pool.query(`drop role ${STRANGER}`);
  await service?.close();
  rmSync(folder, { recursive: true });
});

const PARTS = {
  api: { main: 'api/main.ts', loadConfig: loadApiConfig },
  indexer: { main: 'indexer/main.ts', loadConfig: loadIndexerConfig },
  worker: { main: 'worker/main.ts', loadConfig: loadWorkerConfig },
  localnet: { main: 'localnet/main.ts', loadConfig: loadLocalnetConfig },
  'npm start': { main: 'stack/main.ts', loadConfig: loadStackConfig },
} as const;
/** Parts of which a process has said what its settings alone decide, as this process does. */
const compared = new Set<keyof typeof PARTS>();

/** Settings with which each part would start. */
function rightSettings(part: keyof typeof PARTS): Record<string, string> {
  const key = JSON.stringify([...Keypair.generate().secretKey]);
  switch (part) {
    case 'api':
      return service.apiEnvironment;
    case 'indexer':
      return service.indexerEnvironment;
    case 'worker':
      return {
        WORKER_PORT: '0',
        WORKER_ENGINE: 'builtin',
        WORKER_GATEWAYS: 'any',
        WORKER_AUTHORITY: Keypair.generate().publicKey.toBase58(),
        WORKER_PROOF_KEY: key,
        SOLANA_RPC_URL: service.ledger.rpcUrl,
      };
    case 'localnet':
      return { LOCALNET_PAYER_KEY: key };
    case 'npm start':
      return { PORT: '0' };
  }
}

interface Start {
  part: keyof typeof PARTS;
  settings: Record<string, string | undefined>;
  cwd?: string;
  asOther?: boolean;
  args?: string[];
}

interface Refusal {
  code: number;
  output: string;
  /** What it wrote to standard error. */
  lines: readonly string[];
}

/**
 * What the settings alone decide, read here as a process does. A process takes a second to say the
 * same, so one of each part does.
 */
async function refusalOf(start: Start): Promise<Refusal> {
  const { part, settings, asOther = false } = start;
  const lines = asOther ? [] : configFaults(part, { ...rightSettings(part), ...settings });
  if (lines.length === 0) return startedRefusalOf(start);
  const refusal = { code: 1, output: '', lines };
  if (!compared.has(part)) expect(await startedRefusalOf(start)).toEqual(refusal);
  compared.add(part);
  return refusal;
}

function configFaults(part: keyof typeof PARTS, environment: Start['settings']): readonly string[] {
  try {
    PARTS[part].loadConfig(environment);
    return [];
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    return error.faults;
  }
}

/** Starts a process as an operator does, to its end. */
function startedRefusalOf({ part, settings, cwd = 'place', asOther = false, args = [] }: Start) {
  const environment = { ...MACHINE_ENVIRONMENT, ...rightSettings(part), ...settings };
  // An empty one counts as absent.
  const env = Object.fromEntries(
    Object.entries(environment).map(([name, value]) => [name, value ?? '']),
  );
  const command = [process.execPath, join(PROJECT_FOLDER, PARTS[part].main), ...args];
  const user = ['setpriv', `--reuid=${OTHER_USER}`, `--regid=${OTHER_USER}`, '--clear-groups'];
  const [program = '', ...words] = asOther && isRoot ? [...user, ...command] : command;
  return new Promise<Refusal>((resolve) => {
    const options = { cwd: at(cwd), env, timeout: 30_000 };
    execFile(program, words, options, (error, output, text) => {
      const lines = text.split('\n').filter((line) => line !== '');
      // A process writes its log as JSON.
      const messages = lines.map((line) => (line[0] === '{' ? JSON.parse(line).msg : line));
      resolve({ code: Number(error?.code ?? 0), output, lines: messages });
    });
  });
}

const KEY = 'must be a secret key';
const NO_FILE = `${KEY} or the path of its file: there is no such file (svc keygen makes one)`;
const NO_URL = 'must be a URL that begins with http:// or https://';
const TAKEN = 'is taken (EADDRINUSE); choose another';
const path = (name: string) => () => at(name);
const taken = () => takenPort;
const databaseUrl = (change: (url: URL) => void) => () => {
  const url = new URL(service.apiEnvironment.DATABASE_URL ?? '');
  change(url);
  return url.href;
};
const wrongPassword = databaseUrl((url) => {
  url.password = SECRET;
});
const noSuchDatabase = databaseUrl((url) => {
  url.pathname = '/nowhere';
});
const withQuery = (query: string) =>
  databaseUrl((url) => {
    url.search = query;
  });
/** A database user who may sign in, and nothing else. */
const STRANGER = 'svc_wrong_settings';
const strangersUrl = databaseUrl((url) => {
  Object.assign(url, { username: STRANGER, password: SECRET });
});
const POOLED = 'leads to a pooler in transaction mode, which keeps no session; name the database';
const NO_RIGHT = 'its user lacks a right, which svc roles gives the users that it makes';

type Row = [
  part: keyof typeof PARTS,
  setting: string,
  value: string | (() => string),
  sentence: string,
  more?: Partial<Start>,
];

const UNREADABLE = { asOther: true };
const rows: Row[] = [
  ['api', 'SVC_SIGNER_KEY', path('none.json'), NO_FILE],
  [
    'api',
    'SVC_SIGNER_KEY',
    path('a-folder'),
    'must be the path of a key file: this one is a folder',
  ],
  [
    'api',
    'SVC_SIGNER_KEY',
    path('short.json'),
    `${KEY}: a JSON array of 64 bytes, and this has 63`,
  ],
  ['api', 'SVC_SIGNER_KEY', path('prose.json'), `${KEY}: base58, a JSON array of 64 bytes, or`],
  [
    'api',
    'SVC_SIGNER_KEY',
    path('open.json'),
    'must be a file that only its owner can read: chmod',
  ],
  [
    ...(['api', 'SVC_SIGNER_KEY', path('other-users.json')] as const),
    'must be a key file that this user can read: chown it',
    UNREADABLE,
  ],
  ['api', 'SVC_FEE_PAYER_KEYS', path('none.json'), NO_FILE],
  ['api', 'SVC_GATEWAY_FILE', path('none'), '(ENOENT): there is no such file'],
  ['api', 'SVC_GATEWAY_FILE', path('a-folder'), '(EISDIR): it is a folder, so name a file in it'],
  [
    ...(['api', 'SVC_GATEWAY_FILE', path('other-users.json')] as const),
    '(EACCES): this user may not read it, so chown or chmod it',
    UNREADABLE,
  ],
  ['api', 'SVC_GATEWAY', SECRET, 'not a ledger address'],
  ['api', 'SVC_SECRETS_KEY', 'c2hvcnQ=', 'must be base64 of 32 bytes'],
  ['api', 'SOLANA_RPC_URL', SECRET, NO_URL],
  ['api', 'SOLANA_WS_URL', SECRET, 'must be a URL that begins with ws:// or wss://'],
  ['api', 'PUBLIC_URL', SECRET, NO_URL],
  ['api', 'DATABASE_URL', SECRET, 'must be a URL that begins with postgres://'],
  [
    'api',
    'DATABASE_URL',
    `postgres://svc:1/${SECRET}@host/svc`,
    'special characters of a password',
  ],
  ['api', 'DATABASE_URL', wrongPassword, 'the database refuses it: password authentication failed'],
  ['api', 'DATABASE_URL', noSuchDatabase, 'the database refuses it: database "nowhere" does not'],
  [
    ...([
      'api',
      'DATABASE_URL',
      databaseUrl((url) => url.searchParams.set('sslmode', 'verify-full')),
    ] as const),
    'the database refuses it: The server does not support SSL connections',
  ],
  ['api', 'DATABASE_URL', withQuery('sslmode=strict'), 'sslmode must be one of disable, allow,'],
  ['api', 'DATABASE_URL', withQuery('sslmode=verify-ca'), 'needs sslrootcert=<file>'],
  [
    ...(['api', 'DATABASE_URL', withQuery('sslmode=require&sslrootcert=/none.pem')] as const),
    'sslrootcert: cannot read /none.pem (ENOENT)',
  ],
  ['api', 'DATABASE_URL', strangersUrl, NO_RIGHT],
  ['api', 'DATABASE_URL', () => pooler.databaseUrl, POOLED],
  ['api', 'PORT', taken, TAKEN],
  ['api', 'METRICS_PORT', taken, TAKEN],
  ['api', 'TLS_CERT', path('none'), '(ENOENT): there is no such file'],
  ['api', 'TLS_CERT', path('file'), 'must be a certificate chain and its key, both as PEM'],
  ['api', 'SVC_TOKENIZERS_DIR', path('none'), 'no tokenizers can be read from'],
  ['api', 'SVC_MODEL_CARDS_DIR', path('none'), 'no cards can be read from'],
  ['indexer', 'SVC_CRANK_KEY', path('a-folder'), 'this one is a folder'],
  [
    'indexer',
    'DATABASE_URL',
    wrongPassword,
    'the database refuses it: password authentication failed',
  ],
  ['indexer', 'DATABASE_URL', withQuery('sslmode=require'), 'sslmode=disable connects without TLS'],
  ['indexer', 'DATABASE_URL', strangersUrl, NO_RIGHT],
  ['indexer', 'DATABASE_URL', () => pooler.databaseUrl, POOLED],
  ['indexer', 'INDEXER_PORT', taken, TAKEN],
  ['indexer', 'INDEXER_HOST', '203.0.113.1', '(EADDRNOTAVAIL): it is no address of this machine'],
  [
    'worker',
    'WORKER_PROOF_KEY',
    path('short.json'),
    `${KEY}: a JSON array of 64 bytes, and this has 63`,
  ],
  ['worker', 'WORKER_UPSTREAM_URL', SECRET, NO_URL, { settings: { WORKER_ENGINE: undefined } }],
  ['worker', 'WORKER_PORT', taken, TAKEN],
  ['worker', 'WORKER_METRICS_PORT', taken, TAKEN],
  ['localnet', 'LOCALNET_PAYER_KEY', path('none.json'), NO_FILE],
  ['localnet', 'LOCALNET_PORT', taken, 'is taken: name another port'],
  ['localnet', 'LOCALNET_DATA_DIR', path('file'), 'cannot be made: EEXIST'],
  [
    'npm start',
    'SVC_DATA_DIR',
    path('file'),
    '(EEXIST), since a file is in its place: move that away',
  ],
  ['npm start', 'SVC_DATA_DIR', path('file/below'), '(ENOTDIR), since a file is in its place'],
  [
    ...(['npm start', 'SVC_DATA_DIR', path('locked/data')] as const),
    'cannot be written to (EACCES) by this user: chown it',
    UNREADABLE,
  ],
  ['npm start', 'SVC_AUTHORITY_KEY', path('none.json'), NO_FILE],
  ['npm start', 'SOLANA_RPC_URL', SECRET, NO_URL],
  ['npm start', 'PORT', taken, 'is taken. Choose another: PORT=8180 npm start'],
  ['npm start', 'HOST', '203.0.113.1', 'cannot be listened on: '],
  ['npm start', 'WORKER_UPSTREAM_URL', SECRET, NO_URL],
  ['npm start', 'DATABASE_URL', withQuery('sslmode=verify-ca'), 'needs sslrootcert=<file>'],
  ['npm start', 'DATABASE_URL', withQuery('sslmode=require'), 'sslmode=disable connects without'],
  ['npm start', 'DATABASE_URL', () => pooler.databaseUrl, POOLED],
  ['npm start', 'DATABASE_URL', strangersUrl, NO_RIGHT],
];

/** Rows of one part that go together with others' settings. */
function settingsOf(setting: string, value: string): Record<string, string | undefined> {
  const own = { [setting]: value };
  if (setting.endsWith('_FILE')) return { ...own, [setting.replace(/_FILE$/, '')]: undefined };
  return setting === 'TLS_CERT' ? { ...own, TLS_KEY: value } : own;
}

describe('a process that is started with a wrong setting', () => {
  for (const [part, setting, value, sentence, more = {}] of rows) {
    const title = `ends with one line that says what to do: ${part}, ${setting}: ${sentence}`;
    if (more.asOther && !canDropRights) {
      it.skip(`${title} (NOT CHECKED: setpriv is not installed)`, () => undefined);
      continue;
    }
    it(title, async () => {
      const text = typeof value === 'string' ? value : value();
      const { settings = {}, ...start } = more;
      const wrong = { ...settingsOf(setting, text), ...settings };
      const { code, lines, output } = await refusalOf({ part, settings: wrong, ...start });
      expect([code, lines]).toEqual([1, [expect.stringContaining(sentence)]]);
      expect(lines[0]?.toUpperCase()).toContain(setting);
      expect(`${lines}${output}`).not.toContain(SECRET);
    });
  }

  it('names a database that is away: at once with npm start and --check', async () => {
    const away = { DATABASE_URL: `postgres://svc:${SECRET}@127.0.0.1:9/svc` };
    const stack = await refusalOf({ part: 'npm start', settings: away });
    expect([stack.code, stack.lines]).toEqual([
      1,
      [
        expect.stringMatching(
          /^The database of DATABASE_URL cannot .*Start it, or correct DATABASE_URL/,
        ),
      ],
    ]);
    const api = await refusalOf({ part: 'api', settings: away, args: ['--check'] });
    expect([api.code, api.lines]).toEqual([1, []]);
    expect(api.output).toMatch(
      /^FAILED {2}database +DATABASE_URL cannot be used: connect ECONNREFUSED/m,
    );
    expect(JSON.stringify([stack, api])).not.toContain(SECRET);
  });

  it('names what is wrong in the folders of npm start', async () => {
    const [damaged, noPlace, refused] = [
      await refusalOf({ part: 'npm start', settings: { SVC_DATA_DIR: at('damaged') } }),
      await refusalOf({ part: 'npm start', settings: {}, cwd: 'no-place' }),
      await refusalOf({ part: 'npm start', settings: { DATABASE_URL: wrongPassword() } }),
    ];
    expect([damaged.code, damaged.lines]).toEqual([
      1,
      [expect.stringMatching(/^SVC_DATA_DIR: .*authority\.json must be a secret key.*Put a copy/)],
    ]);
    expect([noPlace.code, noPlace.lines]).toEqual([
      1,
      [expect.stringMatching(/^npm start: the folder .*\.svc cannot be written to \(EEXIST\)/)],
    ]);
    expect([refused.code, refused.lines]).toEqual([
      1,
      [expect.stringMatching(/^The database of DATABASE_URL cannot be used: password auth/)],
    ]);
  });
});
