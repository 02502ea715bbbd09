import { X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { type ConnectionOptions, createSecureContext } from 'node:tls';

/** How a server is reached, as `pg` takes it. */
interface DatabaseConnection {
  connectionString: string;
  ssl: false | ConnectionOptions;
  sslnegotiation?: 'direct';
}

/** The modes of libpq, and one of `pg`. */
const MODES = [
  ...(['disable', 'allow', 'prefer', 'require', 'no-verify'] as const),
  ...(['verify-ca', 'verify-full'] as const),
];
type Mode = (typeof MODES)[number];

/** Kept from `pg`, which would give them another meaning, and warn of that in seven lines. */
const TLS_PARAMETERS = [
  ...['ssl', 'sslmode', 'sslrootcert', 'sslcert', 'sslkey', 'sslnegotiation', 'uselibpqcompat'],
];
/** The value of `sslrootcert` for the authorities that Node trusts. */
const SYSTEM_ROOTS = 'system';

/**
 * Reads what the address of a database says of TLS, as psql does:
 *
 * - `disable`, or nothing: no TLS
 * - `require`, and weaker modes: TLS with any server; with `sslrootcert` as `verify-ca`
 * - `verify-ca`: a certificate of the authority in `sslrootcert`
 * - `verify-full`: such a certificate for this host; without `sslrootcert` of any that Node trusts
 *
 * @param environment has `PGSSLMODE`, `PGSSLROOTCERT`, `PGSSLCERT` and `PGSSLKEY` for what the
 *   address leaves out
 * @throws Error that says what is wrong, without the address
 */
export function connectionOf(
  databaseUrl: string,
  environment: NodeJS.ProcessEnv = process.env,
): DatabaseConnection {
  const url = new URL(databaseUrl);
  const { searchParams } = url;
  const read = (name: string) =>
    searchParams.get(name) || environment[`PG${name.toUpperCase()}`] || undefined;
  const mode = modeOf(read('sslmode'), searchParams.get('ssl'));
  const roots = read('sslrootcert');
  const ssl: DatabaseConnection['ssl'] = mode !== 'disable' && {
    ...checksOf(mode, roots),
    ...pemOf('ca', 'sslrootcert', roots === SYSTEM_ROOTS ? undefined : roots),
    ...pemOf('cert', 'sslcert', read('sslcert')),
    ...pemOf('key', 'sslkey', read('sslkey')),
  };
  const isDirect = read('sslnegotiation') === 'direct';
  if (isDirect && !ssl) throw new Error('sslnegotiation=direct needs sslmode=require or stronger');
  if (ssl) assertReadable(ssl);
  for (const name of TLS_PARAMETERS) searchParams.delete(name);
  return { connectionString: url.href, ssl, ...(isDirect && { sslnegotiation: 'direct' }) };
}

function assertReadable(ssl: ConnectionOptions): void {
  try {
    // Node ignores authorities that it cannot read.
    if (ssl.ca !== undefined) new X509Certificate(String(ssl.ca));
    createSecureContext(ssl);
  } catch (error) {
    throw new Error(`sslrootcert, sslcert and sslkey must be PEM files (${codeOf(error)})`);
  }
}

/** Whether TLS to this database would accept any other server in its place. */
export function isUnchecked(databaseUrl: string): boolean {
  const { ssl } = connectionOf(databaseUrl);
  return ssl !== false && ssl.rejectUnauthorized === false;
}

/** @param ssl as `pg` has it: whether there is TLS, with a certificate for the host */
function modeOf(sslmode: string | undefined, ssl: string | null): Mode {
  const byFlag = ssl === null || /^(0|false)$/.test(ssl) ? 'disable' : 'verify-full';
  const given = sslmode ?? (ssl === 'no-verify' ? ssl : byFlag);
  const mode = MODES.find((known) => known === given);
  if (!mode) throw new Error(`sslmode must be one of ${MODES.join(', ')}`);
  return mode;
}

function checksOf(mode: Mode, roots: string | undefined): ConnectionOptions {
  if (mode === 'verify-full' || roots === SYSTEM_ROOTS) return {};
  const checksAuthority = mode === 'verify-ca' || (mode === 'require' && roots !== undefined);
  if (!checksAuthority) return { rejectUnauthorized: false };
  if (roots === undefined) {
    throw new Error('sslmode=verify-ca needs sslrootcert=<file>, the certificate of the authority');
  }
  return { checkServerIdentity: () => undefined };
}

function pemOf(option: 'ca' | 'cert' | 'key', parameter: string, path: string | undefined) {
  if (path === undefined) return {};
  try {
    return { [option]: readFileSync(path, 'utf8') };
  } catch (error) {
    throw new Error(`${parameter}: cannot read ${path} (${codeOf(error)})`);
  }
}

function codeOf(error: unknown): string {
  return String((error as NodeJS.ErrnoException).code);
}
