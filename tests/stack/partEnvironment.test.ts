import { describe, expect, it } from '@jest/globals';
import { environmentFor, PARTS } from '../../stack/parts.ts';
import { settingsIn } from './settingsIn.ts';

const CONFIGS = ['stack', 'api', 'indexer', 'worker'].map((part) => `${part}/config.ts`);
const withFile = (name: string) => [name, `${name}_FILE`];
const everything = Object.fromEntries(
  CONFIGS.flatMap(settingsIn)
    .flatMap(withFile)
    .map((name): [string, string] => [name, 'set']),
);
const given = (part: keyof typeof PARTS, environment: NodeJS.ProcessEnv) =>
  Object.keys(environmentFor(PARTS[part], environment)).sort();

describe('the environment of a part', () => {
  it.each(['api', 'indexer', 'worker'] as const)(
    'has every setting that the %s reads, also from a file, and no other',
    (part) => {
      const settings = settingsIn(`${part}/config.ts`);
      expect(settings.length).toBeGreaterThan(5);
      expect(given(part, everything)).toEqual(settings.flatMap(withFile).sort());
    },
  );

  it('gives the database only the path of its data', () => {
    expect(given('database', everything)).toEqual(['SVC_DATA_DIR']);
  });

  it('keeps what Node and its packages read, but no other credentials', () => {
    const system = { PATH: '/bin', LC_ALL: 'C', NODE_OPTIONS: '--max-old-space-size=512' };
    const network = { HTTPS_PROXY: 'http://proxy', NODE_EXTRA_CA_CERTS: 'ca.pem' };
    const foreign = { NODE_AUTH_TOKEN: 'a', AWS_SECRET_ACCESS_KEY: 'b', SVC_AUTHORITY_KEY: 'c' };
    const environment = {
      ...system,
      ...network,
      ...foreign,
      PGSSLROOTCERT: 'ca.pem',
      OTEL_EXPORTER_OTLP_HEADERS: 'key=d',
    };
    const names = Object.keys({ ...system, ...network });
    expect(given('database', environment)).toEqual(Object.keys(system).sort());
    expect(given('ledger', environment)).toEqual(Object.keys(system).sort());
    expect(given('worker', environment)).toEqual([...names].sort());
    expect(given('indexer', environment)).toEqual([...names, 'PGSSLROOTCERT'].sort());
    expect(given('api', environment)).toEqual(
      [...names, 'PGSSLROOTCERT', 'OTEL_EXPORTER_OTLP_HEADERS'].sort(),
    );
  });
});
