import { environmentSchema as api } from '../api/config.ts';
import { environmentSchema as indexer } from '../indexer/config.ts';
import { environmentSchema as localnet } from '../localnet/config.ts';
import { environmentSchema as worker } from '../worker/config.ts';
import { environmentSchema as stack } from './config.ts';

/** The settings of every process, in the order in which `.env.example` describes them. */
export const SETTINGS = { 'npm start': stack, api, indexer, worker, localnet } as const;

/** A process that the stack starts. */
export interface Part {
  /** Where it begins, from the project's root. */
  readonly script: string;
  /** Names of all variables that it is given, as far as the user has set them. */
  readonly reads: RegExp;
}

/** What a process needs to run as the user set his machine up. */
const SYSTEM = [
  ...['PATH', 'HOME', 'USER', 'LANG', 'LC_[A-Z]+', 'TZ', 'TMPDIR', 'TMP', 'TEMP'],
  ...['LD_LIBRARY_PATH', 'LD_PRELOAD', 'DYLD_LIBRARY_PATH'],
  ...['NODE_OPTIONS', 'NODE_ENV', 'NODE_DEBUG', 'NODE_V8_COVERAGE', 'UV_THREADPOOL_SIZE'],
];

/** By which Node reaches others through a proxy, and knows whom to believe. */
const NETWORK = [
  ...['HTTP_PROXY', 'HTTPS_PROXY', 'NO_PROXY', 'http_proxy', 'https_proxy', 'no_proxy'],
  ...['NODE_USE_ENV_PROXY', 'NODE_USE_SYSTEM_CA', 'NODE_EXTRA_CA_CERTS'],
  ...['NODE_TLS_REJECT_UNAUTHORIZED', 'SSL_CERT_FILE', 'SSL_CERT_DIR'],
];

/** pg has settings of its own, such as PGSSLROOTCERT, and so has OpenTelemetry. */
const POSTGRES = ['PG[A-Z]+'];
const TELEMETRY = ['OTEL_[A-Z_]+'];

const namesOf = (process: keyof typeof SETTINGS): string[] => Object.keys(SETTINGS[process].shape);

/**
 * The processes of the service. Each sees what it reads and no other's secrets: whoever takes one
 * over has that one alone, and PostgreSQL's administrator, who may run programs, has nothing.
 */
export const PARTS = {
  database: { script: 'stack/databaseMain.ts', reads: anyOf(SYSTEM, ['SVC_DATA_DIR']) },
  ledger: { script: 'localnet/main.ts', reads: anyOf(SYSTEM, namesOf('localnet')) },
  worker: { script: 'worker/main.ts', reads: anyOf(SYSTEM, NETWORK, namesOf('worker')) },
  indexer: {
    script: 'indexer/main.ts',
    reads: anyOf(SYSTEM, NETWORK, POSTGRES, namesOf('indexer')),
  },
  api: {
    script: 'api/main.ts',
    reads: anyOf(SYSTEM, NETWORK, POSTGRES, TELEMETRY, namesOf('api')),
  },
} as const satisfies Record<string, Part>;

/** The part of the user's environment that a process is given. */
export function environmentFor({ reads }: Part, environment: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(environment).filter(([name]) => reads.test(name)));
}

function anyOf(...lists: readonly string[][]): RegExp {
  return new RegExp(`^(?:${lists.flat().join('|')})$`);
}
