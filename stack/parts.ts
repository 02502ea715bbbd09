import { environmentSchema as api } from '../api/config.ts';
import { FILE_SUFFIX } from '../common/config.ts';
import { environmentSchema as indexer } from '../indexer/config.ts';
import { environmentSchema as localnet } from '../localnet/config.ts';
import { environmentSchema as worker } from '../worker/config.ts';
import { environmentSchema as stack } from './config.ts';

/** The settings of every process, in the order in which `.env.example` describes them. */
export const SETTINGS = { 'npm start': stack, api, indexer, worker, localnet } as const;

/** A process that the stack starts. */
export interface Part {
  /** Its script, relative to the project's root. */
  readonly script: string;
  /** The names of the variables that it gets from the user's environment. */
  readonly reads: RegExp;
  /**
   * The setting of its port, for a part that is started again where it was. Without it the stack ends
   * with the part, because the others would go on with a database or ledger that has lost its data.
   */
  readonly portSetting?: string;
}

/** The variables of the user's system. */
const SYSTEM = [
  ...['PATH', 'HOME', 'USER', 'LANG', 'LC_[A-Z]+', 'TZ', 'TMPDIR', 'TMP', 'TEMP'],
  ...['LD_LIBRARY_PATH', 'LD_PRELOAD', 'DYLD_LIBRARY_PATH'],
  ...[
    'NODE_OPTIONS',
    'NODE_ENV',
    'NODE_DEBUG',
    'NODE_V8_COVERAGE',
    'NODE_COMPILE_CACHE',
    'UV_THREADPOOL_SIZE',
  ],
];

/** Node's variables for proxies and certificates. */
const NETWORK = [
  ...['HTTP_PROXY', 'HTTPS_PROXY', 'NO_PROXY', 'http_proxy', 'https_proxy', 'no_proxy'],
  ...['NODE_USE_ENV_PROXY', 'NODE_USE_SYSTEM_CA', 'NODE_EXTRA_CA_CERTS'],
  ...['NODE_TLS_REJECT_UNAUTHORIZED', 'SSL_CERT_FILE', 'SSL_CERT_DIR'],
];

/** pg and OpenTelemetry have their own settings, such as PGSSLROOTCERT. */
const POSTGRES = ['PG[A-Z]+'];
const TELEMETRY = ['OTEL_[A-Z_]+'];

/** Each setting, and the file that may hold it. */
const namesOf = (process: keyof typeof SETTINGS): string[] =>
  Object.keys(SETTINGS[process].shape).flatMap((name) => [name, name + FILE_SUFFIX]);

/**
 * The processes of the service. Each gets only the settings that it reads. So an attacker in one
 * process has no other's secrets, and PostgreSQL's administrator, who may run programs, has none.
 */
export const PARTS = {
  database: { script: 'stack/databaseMain.ts', reads: anyOf(SYSTEM, ['SVC_DATA_DIR']) },
  ledger: { script: 'localnet/main.ts', reads: anyOf(SYSTEM, namesOf('localnet')) },
  worker: {
    script: 'worker/main.ts',
    reads: anyOf(SYSTEM, NETWORK, namesOf('worker')),
    portSetting: 'WORKER_PORT',
  },
  indexer: {
    script: 'indexer/main.ts',
    reads: anyOf(SYSTEM, NETWORK, POSTGRES, namesOf('indexer')),
    portSetting: 'INDEXER_PORT',
  },
  api: {
    script: 'api/main.ts',
    reads: anyOf(SYSTEM, NETWORK, POSTGRES, TELEMETRY, namesOf('api')),
    portSetting: 'PORT',
  },
} as const satisfies Record<string, Part>;

/** The part of the user's environment that a process gets. */
export function environmentFor({ reads }: Part, environment: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(environment).filter(([name]) => reads.test(name)));
}

function anyOf(...lists: readonly string[][]): RegExp {
  return new RegExp(`^(?:${lists.flat().join('|')})$`);
}
