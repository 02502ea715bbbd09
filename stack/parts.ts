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

/** What the API and the indexer both read; pg has settings of its own, such as PGSSLROOTCERT. */
const SERVICE = [
  ...['DATABASE_URL', 'PG[A-Z]+', 'SOLANA_RPC_URL', 'SOLANA_WS_URL', 'HELIUS_API_KEY'],
  ...['SVC_PROGRAM_ID', 'SVC_COMMITMENT', 'SVC_SECRETS_KEY', 'SVC_SECRETS_KEY_PREVIOUS'],
  ...['SVC_ALLOW_LOOPBACK', 'LOG_LEVEL'],
];

const API = [
  ...['HOST', 'PORT', 'PUBLIC_URL', 'TLS_CERT', 'TLS_KEY', 'METRICS_HOST', 'METRICS_PORT'],
  ...['OTEL_[A-Z_]+', 'SVC_ALLOW_PLAIN_HTTP', 'SVC_CORS_ORIGINS', 'SVC_TRUSTED_PROXY_HOPS'],
  ...['SVC_BURST_[A-Z_]+', 'SVC_GATEWAY', 'SVC_SIGNER_KEY', 'SVC_FEE_PAYER_KEYS'],
  ...['SVC_SUBMISSIONS_MAX', 'SVC_TOKENIZERS_DIR', 'SVC_SHUTDOWN_TIMEOUT_MS'],
];

const INDEXER = [
  ...['INDEXER_[A-Z_]+', 'SVC_CRANK_KEY', 'SVC_WEBHOOK_COMMITMENT'],
  ...['SVC_RECONCILE_INTERVAL_SECONDS', 'SVC_ABUSE_[A-Z0-9_]+'],
];

const WORKER = ['WORKER_[A-Z_]+', 'SOLANA_RPC_URL', 'SVC_PROGRAM_ID', 'LOG_LEVEL'];

/**
 * The processes of the service. Each sees what it reads and no other's secrets: whoever takes one
 * over has that one alone, and PostgreSQL's administrator, who may run programs, has nothing.
 */
export const PARTS = {
  database: { script: 'stack/databaseMain.ts', reads: anyOf(SYSTEM, ['SVC_DATA_DIR']) },
  ledger: { script: 'localnet/main.ts', reads: anyOf(SYSTEM, ['LOCALNET_[A-Z_]+']) },
  worker: { script: 'worker/main.ts', reads: anyOf(SYSTEM, NETWORK, WORKER) },
  indexer: { script: 'indexer/main.ts', reads: anyOf(SYSTEM, NETWORK, SERVICE, INDEXER) },
  api: { script: 'api/main.ts', reads: anyOf(SYSTEM, NETWORK, SERVICE, API) },
} as const satisfies Record<string, Part>;

/** The part of the user's environment that a process is given. */
export function environmentFor({ reads }: Part, environment: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(environment).filter(([name]) => reads.test(name)));
}

function anyOf(...lists: readonly string[][]): RegExp {
  return new RegExp(`^(?:${lists.flat().join('|')})$`);
}
