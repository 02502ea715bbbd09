import { execFile } from 'node:child_process';
import { chownSync, cpSync, mkdirSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:net';
import { resolve as absolute, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Keypair } from '@solana/web3.js';
import { createStartChecks as createApiChecks } from '../../api/checks.ts';
import { loadConfig as loadApiConfig } from '../../api/config.ts';
import { startApi } from '../../api/start.ts';
import { ConfigError } from '../../common/config.ts';
import { createLogger } from '../../common/logger.ts';
import { listenAt } from '../../common/net/urls.ts';
import { createShutdown } from '../../common/shutdown.ts';
import { runStartChecks, type StartCheck } from '../../common/startChecks.ts';
import { createStartChecks as createIndexerChecks } from '../../indexer/checks.ts';
import { loadConfig as loadIndexerConfig } from '../../indexer/config.ts';
import { loadConfig as loadLocalnetConfig } from '../../localnet/config.ts';
import { startLocalnetWithEscrow } from '../../localnet/escrow.ts';
import { loadConfig as loadStackConfig, StackError } from '../../stack/config.ts';
import { findFreePort } from '../../stack/port.ts';
import { startStack } from '../../stack/start.ts';
import { MACHINE_ENVIRONMENT, PROJECT_FOLDER } from '../../testing/childProcess.ts';
import { startIndexerInProcess } from '../../testing/indexer/inProcessIndexer.ts';
import { ownFolder } from '../../testing/ownFolder.ts';
import { type RunningService, startRunningService } from '../../testing/service/runningService.ts';
import { loadConfig as loadWorkerConfig } from '../../worker/config.ts';
import { startWorker } from '../../worker/start.ts';
import { startTransactionPooler } from '../common/transactionPooler.ts';

// What a setting may hold in any part: tests/common/config.test.ts.

const OTHER_USER = 10_001;
const isRoot = process.getuid?.() === 0;
const SECRET = 'hunter2';
const stranger = Keypair.generate().publicKey.toBase58();
/** A database user who may sign in, and nothing else. */
const STRANGER = 'svc_wrong_settings';

let service: RunningService;
let pooler: Awaited<ReturnType<typeof startTransactionPooler>>;
let occupied: Server;
let takenPort: string;
const folder = ownFolder('wrong-settings');
const at = (name: string): string => join(folder, name);

beforeAll(async () => {
  service = await startRunningService({ workers: [] });
  pooler = await startTransactionPooler(databaseUrl()(), { servers: 2, takes: 'last' });
  await service.pool.query(`drop role if exists ${STRANGER}`);
  await service.pool.query(`create role ${STRANGER} login password '${SECRET}'`);
  occupied = createServer();
  const settings = { host: 'HOST', port: 'PORT' };
  takenPort = String((await listenAt(occupied, { host: '127.0.0.1', port: 0, settings })).port);
  const numbers = [...Keypair.generate().secretKey];
  const files: [name: string, text: string, mode: number][] = [
    ['short.json', JSON.stringify(numbers.slice(1)), 0o600],
    // Where it is not root's, its owner may not read it.
    ['other-users.json', JSON.stringify(numbers), isRoot ? 0o600 : 0o000],
    ['open.json', JSON.stringify(numbers), 0o644],
    ['prose.json', `${SECRET} is no key`, 0o600],
    ['file', '', 0o644],
  ];
  for (const [name, text, mode] of files) writeFileSync(at(name), text, { mode });
  for (const name of ['a-folder', 'damaged', 'no-place', 'place']) mkdirSync(at(name));
  mkdirSync(at('locked'), { mode: 0o555 });
  writeFileSync(at('damaged/authority.json'), '[]', { mode: 0o600 });
  writeFileSync(at('no-place/.svc'), '');
  if (isRoot) chownSync(folder, OTHER_USER, OTHER_USER);
});

afterAll(async () => {
  occupied?.close();
  await pooler?.close();
  await service?.pool.query(`drop role ${STRANGER}`);
  await service?.close();
});

type Settings = Record<string, string>;
type Part = 'api' | 'indexer' | 'worker' | 'localnet' | 'npm start';

/** Starts each part as its own process does. @throws what ends that process */
const STARTS: Record<Part, (settings: Settings, place: string) => Promise<unknown>> = {
  api: (settings) => startApi(loadApiConfig(settings)),
  indexer: (settings) => startIndexerInProcess(settings),
  worker: (settings) => startWorker(loadWorkerConfig(settings)),
  localnet: (settings) => startLocalnetWithEscrow(loadLocalnetConfig(settings)),
  async 'npm start'(environment, place) {
    const logger = createLogger({ name: 'stack', level: 'fatal' });
    const shutdown = createShutdown({ logger, timeoutMs: 40_000 });
    const ending = new AbortController();
    const none = (): void => undefined;
    try {
      await startStack({
        ...{ config: loadStackConfig(environment), environment, folder: join(place, '.svc') },
        ...{ shutdown, onExit: none, onRestart: none, ending: ending.signal, report: none },
      });
    } finally {
      ending.abort();
      await shutdown.run();
    }
  },
};

/** Settings with which each part would start. */
function rightSettings(part: Part): Settings {
  const key = JSON.stringify([...Keypair.generate().secretKey]);
  switch (part) {
    case 'api':
      return service.apiEnvironment;
    case 'indexer':
      return service.indexerEnvironment;
    case 'worker':
      return {
        WORKER_PORT: '0',
        WORKER_METRICS_PORT: '0',
        WORKER_ENGINE: 'builtin',
        WORKER_GATEWAYS: service.apiEnvironment.SVC_GATEWAY ?? '',
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

/** @returns the lines of the error that ends the start */
async function refusalOf(part: Part, wrong: Settings, place = at('place')): Promise<string[]> {
  const start = async () => STARTS[part]({ ...rightSettings(part), ...wrong }, place);
  const error = await start().then(
    () => new Error(`${part} started`),
    (reason: unknown) => reason,
  );
  // Of any other, the process prints the stack.
  expect([ConfigError, StackError]).toContain((error as Error).constructor);
  return (error as Error).message.split('\n');
}

/** Runs it as a user who is neither root nor the files' owner. */
async function asOther<Result>(run: () => Promise<Result>): Promise<Result> {
  if (isRoot) process.seteuid?.(OTHER_USER);
  try {
    return await run();
  } finally {
    if (isRoot) process.seteuid?.(0);
  }
}

/** Starts a process as an operator does, to its end. */
function startProcess(main: string, settings: Settings, ...args: string[]) {
  const env = { ...MACHINE_ENVIRONMENT, ...settings };
  const command = [absolute(PROJECT_FOLDER, main), ...args];
  const linesOf = (text: string) => text.split('\n').filter((line) => line !== '');
  return new Promise<{ code: number; lines: string[]; errors: string[] }>((resolve) => {
    execFile(process.execPath, command, { cwd: at('place'), env }, (error, output, text) => {
      const code = Number(error?.code ?? 0);
      resolve({ code, lines: linesOf(output), errors: linesOf(text) });
    });
  });
}

function databaseUrl(change: (url: URL) => unknown = () => undefined): () => string {
  return () => {
    const url = new URL(service.apiEnvironment.DATABASE_URL ?? '');
    change(url);
    return url.href;
  };
}

const path = (name: string) => () => at(name);
const taken = () => takenPort;
const pooled = () => pooler.databaseUrl;
const wrongPassword = databaseUrl((url) => Object.assign(url, { password: SECRET }));
const noSuchDatabase = databaseUrl((url) => Object.assign(url, { pathname: '/nowhere' }));
const withTls = databaseUrl((url) => url.searchParams.set('sslmode', 'verify-full'));
const strangersUrl = databaseUrl((url) =>
  Object.assign(url, { username: STRANGER, password: SECRET }),
);
const KEY = 'must be a secret key';
const NO_FILE = `${KEY} or the path of its file: there is no such file (svc keygen makes one)`;
const TAKEN = 'is taken (EADDRINUSE); choose another';
const REFUSED = 'the database refuses it: password authentication failed';
const POOLED = 'leads to a pooler in transaction mode, which keeps no session; name the database';
const NO_RIGHT = 'its user lacks a right, which svc roles gives the users that it makes';
const UNREADABLE = path('other-users.json');

const ROWS: [part: Part, setting: string, value: () => string, sentence: string][] = [
  ['api', 'SVC_SIGNER_KEY', path('none.json'), NO_FILE],
  ['api', 'SVC_SIGNER_KEY', path('a-folder'), 'must be the path of a key file: this one is a'],
  ['api', 'SVC_SIGNER_KEY', path('short.json'), `${KEY}: a JSON array of 64 bytes, and this has`],
  ['api', 'SVC_SIGNER_KEY', path('prose.json'), `${KEY}: base58, a JSON array of 64 bytes, or`],
  ['api', 'SVC_SIGNER_KEY', path('open.json'), 'must be a file that only its owner can read:'],
  ['api', 'SVC_SIGNER_KEY', UNREADABLE, 'must be a key file that this user can read: chown it'],
  ['api', 'SVC_FEE_PAYER_KEYS', path('none.json'), NO_FILE],
  ['api', 'SVC_GATEWAY_FILE', path('none'), '(ENOENT): there is no such file'],
  ['api', 'SVC_GATEWAY_FILE', path('a-folder'), '(EISDIR): it is a folder, so name a file in it'],
  ['api', 'SVC_GATEWAY_FILE', UNREADABLE, '(EACCES): this user may not read it, so chown or chmod'],
  ['api', 'DATABASE_URL', () => `postgres://svc:1/${SECRET}@host/svc`, 'special characters of a'],
  ['api', 'DATABASE_URL', wrongPassword, REFUSED],
  ['api', 'DATABASE_URL', noSuchDatabase, 'the database refuses it: database "nowhere" does not'],
  ['api', 'DATABASE_URL', withTls, 'refuses it: The server does not support SSL connections'],
  ['api', 'DATABASE_URL', strangersUrl, NO_RIGHT],
  ['api', 'DATABASE_URL', pooled, POOLED],
  ['api', 'PORT', taken, TAKEN],
  ['api', 'METRICS_PORT', taken, TAKEN],
  ['api', 'TLS_CERT', path('none'), '(ENOENT): there is no such file'],
  ['api', 'TLS_CERT', path('file'), 'must be a certificate chain and its key, both as PEM'],
  ['api', 'SVC_TOKENIZERS_DIR', path('none'), 'no tokenizers can be read from'],
  ['api', 'SVC_MODEL_CARDS_DIR', path('none'), 'no cards can be read from'],
  ['indexer', 'DATABASE_URL', wrongPassword, REFUSED],
  ['indexer', 'DATABASE_URL', strangersUrl, NO_RIGHT],
  ['indexer', 'DATABASE_URL', pooled, POOLED],
  ['indexer', 'INDEXER_PORT', taken, TAKEN],
  ['indexer', 'INDEXER_HOST', () => '203.0.113.1', '(EADDRNOTAVAIL): it is no address of this'],
  ['worker', 'WORKER_PORT', taken, TAKEN],
  ['worker', 'WORKER_METRICS_PORT', taken, TAKEN],
  ['worker', 'WORKER_HOST', () => '203.0.113.1', 'cannot be listened on (EADDRNOTAVAIL)'],
  ['localnet', 'LOCALNET_PORT', taken, 'is taken: name another port'],
  ['localnet', 'LOCALNET_DATA_DIR', path('file'), 'cannot be made: EEXIST'],
  ['npm start', 'SVC_DATA_DIR', path('file'), '(EEXIST), since a file is in its place: move that'],
  ['npm start', 'SVC_DATA_DIR', path('file/below'), '(ENOTDIR), since a file is in its place'],
  ['npm start', 'SVC_DATA_DIR', path('locked/data'), 'cannot be written to (EACCES) by this user'],
  ['npm start', 'SVC_DATA_DIR', path('damaged'), 'authority.json must be a secret key'],
  ['npm start', 'SVC_AUTHORITY_KEY', path('none.json'), NO_FILE],
  ['npm start', 'PORT', taken, 'is taken. Choose another: PORT=8180 npm start'],
  ['npm start', 'HOST', () => '203.0.113.1', 'cannot be listened on: '],
  ['npm start', 'DATABASE_URL', pooled, POOLED],
  ['npm start', 'DATABASE_URL', strangersUrl, NO_RIGHT],
  ['npm start', 'DATABASE_URL', wrongPassword, 'cannot be used: password auth'],
];

/** With those that go with it. */
function settingsOf(setting: string, value: string): Settings {
  const own = { [setting]: value };
  // An empty one counts as absent.
  if (setting.endsWith('_FILE')) return { ...own, [setting.replace(/_FILE$/, '')]: '' };
  return setting === 'TLS_CERT' ? { ...own, TLS_KEY: value } : own;
}

/** What such a process finds, in this one. */
async function faultsOf(checks: readonly StartCheck[]): Promise<string[]> {
  const lines: string[] = [];
  const isAllWell = await runStartChecks(checks, (line) => lines.push(line));
  const failed = lines.filter((line) => line.startsWith('FAILED'));
  expect(isAllWell).toBe(failed.length === 0);
  return failed;
}

describe('a start with a wrong setting', () => {
  const titled = ROWS.map(
    ([part, setting, value, words]) => [part, setting, words, value] as const,
  );
  it.each(titled)('ends with one line: %s, %s: %s', async (part, setting, sentence, value) => {
    const refuse = () => refusalOf(part, settingsOf(setting, value()));
    const lines = /EACCES|this user/.test(sentence) ? await asOther(refuse) : await refuse();
    expect(lines).toEqual([expect.stringContaining(sentence)]);
    expect(lines[0]?.toUpperCase()).toContain(setting);
    expect(lines.join()).not.toContain(SECRET);
  });

  it('names a database that is away: at once with npm start and --check', async () => {
    const away = { DATABASE_URL: `postgres://svc:${SECRET}@127.0.0.1:9/svc` };
    const stack = await refusalOf('npm start', away);
    expect(stack).toEqual([
      'The database of DATABASE_URL cannot be used: connect ECONNREFUSED 127.0.0.1:9. Start it, ' +
        'or correct DATABASE_URL. Without it, npm start brings its own.',
    ]);
    const checks = createApiChecks(loadApiConfig({ ...service.apiEnvironment, ...away }));
    const [fault] = await faultsOf(checks);
    expect(fault).toMatch(/^FAILED {2}database +DATABASE_URL cannot be used: connect ECONNREFUSED/);
    expect(`${stack}${fault}`).not.toContain(SECRET);
  });

  it('names a port that is taken before it installs anything', async () => {
    const checkout = at('not-installed');
    for (const path of ['common/net/listenFault.mjs', 'bin/pinnedNode.mjs', 'stack/launch.mjs']) {
      cpSync(join(PROJECT_FOLDER, path), join(checkout, path));
    }
    writeFileSync(join(checkout, 'package-lock.json'), '{}');
    expect(await startProcess(join(checkout, 'stack/launch.mjs'), { PORT: takenPort })).toEqual({
      ...{ code: 1, lines: [] },
      errors: [expect.stringContaining('is taken. Choose another: PORT=8180 npm start')],
    });
  });

  it('names a file in the place of the folder of npm start', async () => {
    expect(await refusalOf('npm start', {}, at('no-place'))).toEqual([
      expect.stringMatching(/^npm start: the folder .*\.svc cannot be written to \(EEXIST\)/),
    ]);
  });
});

describe('the process of a part with wrong settings', () => {
  it.each<[Part, string, Settings]>([
    ['api', 'api/main.ts', { PORT: 'many' }],
    ['indexer', 'indexer/main.ts', { INDEXER_PORT: 'many' }],
    ['worker', 'worker/main.ts', { WORKER_SLOTS: 'many' }],
    ['localnet', 'localnet/main.ts', { LOCALNET_PAYER_KEY: '', LOCALNET_SLOT_MS: 'fast' }],
    ['npm start', 'stack/main.ts', { PORT: 'many' }],
  ])('says a line for each and ends with 1: %s', async (part, main, wrong) => {
    const { code, errors } = await startProcess(main, { ...rightSettings(part), ...wrong });
    expect(code).toBe(1);
    // A process writes its log as JSON.
    const lines = errors.map((line): string => (line[0] === '{' ? JSON.parse(line).msg : line));
    const named = lines.map((line) => line.split(':')[0]).toSorted();
    expect(named).toEqual(Object.keys(wrong).toSorted());
  });
});

describe('a process that is started with --check', () => {
  const NODE = ['node', 'websocket'];
  it.each<[Part, string[], RegExp]>([
    [
      'api',
      [
        ...['database', 'mirror', 'secrets', ...NODE, 'program', 'gateway', 'signer'],
        ...['fee payers', 'certificate', 'port'],
      ],
      /^ok +secrets +SVC_SECRETS_KEY opens 1, all that are stored$/m,
    ],
    [
      'indexer',
      ['database', 'schema', 'secrets', ...NODE, 'program', 'ledger', 'crank', 'port'],
      /ledger +of this ledger and program/,
    ],
    [
      'worker',
      ['program', 'account', 'gateways', 'upstream', 'port', 'metrics port'],
      /This worker takes no jobs: its account does not exist/,
    ],
    ['localnet', ['ledger'], /any port$/m],
  ])('names all that it tried, and ends with 0: %s', async (part, tried, found) => {
    const { code, lines, errors } = await startProcess(
      `${part}/main.ts`,
      rightSettings(part),
      '--check',
    );
    // They say why, should it be another code.
    expect({ code, errors: code === 0 ? [] : errors }).toEqual({ code: 0, errors: [] });
    expect(lines.filter((line) => !line.startsWith('ok'))).toEqual([]);
    expect(lines.map((line) => line.slice(8, 24).trim())).toEqual(tried);
    expect(lines.join('\n')).toMatch(found);
  });

  it('ends with 1 where it finds a foreign gateway or no upstream', async () => {
    const wrong = {
      WORKER_ENGINE: '',
      WORKER_GATEWAYS: stranger,
      WORKER_UPSTREAM_URL: `http://127.0.0.1:${await findFreePort()}/v1`,
    };
    const settings = { ...rightSettings('worker'), ...wrong };
    const { code, lines } = await startProcess('worker/main.ts', settings, '--check');
    expect(code).toBe(1);
    expect(lines.filter((line) => line.startsWith('FAILED'))).toEqual([
      expect.stringContaining(`There is no Gateway at ${stranger}`),
      expect.stringContaining('nothing listens at its address (ECONNREFUSED)'),
    ]);
  });
});

describe('a check of the start', () => {
  it('finds a foreign gateway of an API', async () => {
    const config = loadApiConfig({ ...service.apiEnvironment, SVC_GATEWAY: stranger });
    expect(await faultsOf(createApiChecks(config))).toEqual([
      expect.stringContaining(`SVC_GATEWAY ${stranger} is no Gateway`),
    ]);
    const starting = service.startInstance({ SVC_GATEWAY: stranger });
    await expect(starting).rejects.toThrow(`SVC_GATEWAY ${stranger} is no Gateway of`);
  });

  it('finds the database of another program, a wrong key, a crank without SOL', async () => {
    const config = loadIndexerConfig({
      ...service.indexerEnvironment,
      SVC_SECRETS_KEY: Buffer.alloc(32).toString('base64'),
      SVC_PROGRAM_ID: Keypair.generate().publicKey.toBase58(),
      SVC_CRANK_KEY: JSON.stringify([...Keypair.generate().secretKey]),
    });
    expect(await faultsOf(createIndexerChecks(config))).toEqual([
      expect.stringContaining(
        'SVC_SECRETS_KEY does not open the stored secret of the names of requests',
      ),
      expect.stringContaining('was never initialized'),
      expect.stringContaining('each needs its own database'),
      expect.stringContaining('has 0 lamports'),
    ]);
  });
});
