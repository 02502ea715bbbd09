import { describe, expect, it } from '@jest/globals';
import { environmentFor, PARTS, SETTINGS } from '../../stack/parts.ts';

const everything = Object.fromEntries(
  Object.values(SETTINGS)
    .flatMap(({ shape }) => Object.keys(shape))
    .flatMap((name) => [name, `${name}_FILE`])
    .map((name) => [name, 'set']),
);
const given = (part: keyof typeof PARTS, environment: NodeJS.ProcessEnv) =>
  Object.keys(environmentFor(PARTS[part], environment));

describe('the environment of a part', () => {
  it.each([
    ['api', ['SVC_SIGNER_KEY', 'SVC_SIGNER_KEY_FILE', 'DATABASE_URL', 'SVC_SECRETS_KEY']],
    ['indexer', ['SVC_CRANK_KEY', 'SVC_CRANK_KEY_FILE', 'DATABASE_URL', 'SVC_SECRETS_KEY']],
    ['worker', ['WORKER_PROOF_KEY', 'WORKER_PROOF_KEY_FILE', 'WORKER_UPSTREAM_KEY']],
  ] as const)('has its own secrets, also from a file, and no other: %s', (part, own) => {
    const names = given(part, everything);
    expect(names).toEqual(expect.arrayContaining([...own]));
    const foreign = [
      ...['SVC_SIGNER_KEY', 'SVC_CRANK_KEY', 'WORKER_PROOF_KEY', 'SVC_AUTHORITY_KEY'],
    ].filter((name) => !own.some((one) => one === name));
    expect(names.filter((name) => foreign.includes(name))).toEqual([]);
  });

  it('gives the database only the path of its data', () => {
    expect(given('database', everything)).toEqual(['SVC_DATA_DIR']);
  });

  it('keeps what Node and its packages read, but no other credentials', () => {
    const system = ['PATH', 'LC_ALL', 'NODE_OPTIONS'];
    const network = [...system, 'HTTPS_PROXY', 'NODE_EXTRA_CA_CERTS'];
    const names = [...network, 'PGSSLROOTCERT', 'OTEL_EXPORTER_OTLP_HEADERS'];
    const foreign = ['NODE_AUTH_TOKEN', 'AWS_SECRET_ACCESS_KEY', 'SVC_AUTHORITY_KEY'];
    const environment = Object.fromEntries([...names, ...foreign].map((name) => [name, 'x']));
    expect(given('database', environment)).toEqual(system);
    expect(given('ledger', environment)).toEqual(system);
    expect(given('worker', environment)).toEqual(network);
    expect(given('indexer', environment)).toEqual([...network, 'PGSSLROOTCERT']);
    expect(given('api', environment)).toEqual(names);
  });
});
