import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { z } from 'zod';
import { ConfigError, parseEnvironment } from '../../common/config.ts';
import { databaseUrlSetting, httpUrlSetting, websocketUrlSetting } from '../../common/net/urls.ts';
import { SETTINGS } from '../../stack/parts.ts';
import { ownFolder } from '../../testing/ownFolder.ts';

const schema = z.object({ SVC_GATEWAY: z.string() });

/** What a process says that does not start. */
function refusalOf(environment: NodeJS.ProcessEnv): string {
  try {
    parseEnvironment(schema, environment);
  } catch (error) {
    return (error as Error).message;
  }
  return 'it starts';
}

describe("a process's environment", () => {
  it.each([
    ['SVC_GATEWY', 'SVC_GATEWAY'],
    ['SVC_ALLOW_LOOPBAK', 'SVC_ALLOW_LOOPBACK'],
    ['WORKER_UPSTREAM_ULR', 'WORKER_UPSTREAM_URL'],
    ['WORKER_ENGIN', 'WORKER_ENGINE'],
  ])('is refused for %s, with the nearest name and without its value', (name, nearest) => {
    expect(refusalOf({ SVC_GATEWAY: 'x', [name]: 'a-secret' })).toBe(
      `${name}: is no setting; the nearest is ${nearest}`,
    );
  });

  it('names what is missing beside what is unknown', () => {
    expect(refusalOf({ SVC_GATEWY: 'x' })).toMatch(
      /^SVC_GATEWY: is no .*\nSVC_GATEWAY: is required$/,
    );
  });

  it('may hold settings of others, unknown names and empty ones', () => {
    const environment = {
      SVC_GATEWAY: 'x',
      SVC_CRANK_KEY: 'y',
      WORKER_AUTHORITY: 'z',
      SVC_PARENT_PID: '1',
      SVC_GATEWY: '',
      JEST_WORKER_ID: '1',
      WORKERS: '2',
    };
    expect(parseEnvironment(schema, environment)).toEqual({ SVC_GATEWAY: 'x' });
  });
});

describe('a setting from a file', () => {
  const folder = ownFolder('settings');
  const fileOf = (name: string) => join(folder, name);

  beforeAll(() => {
    writeFileSync(fileOf('gateway'), 'from the file\n');
  });

  it("is read without its line end, also under another process's name", () => {
    const environment = { SVC_GATEWAY_FILE: fileOf('gateway'), SVC_CRANK_KEY_FILE: fileOf('none') };
    expect(parseEnvironment(schema, environment)).toEqual({ SVC_GATEWAY: 'from the file' });
  });

  it('is refused beside the setting itself', () => {
    expect(refusalOf({ SVC_GATEWAY: 'x', SVC_GATEWAY_FILE: fileOf('gateway') })).toBe(
      'SVC_GATEWAY: set either this or SVC_GATEWAY_FILE, not both',
    );
  });

  it('is refused by its path when unreadable, and not also as missing', () => {
    expect(refusalOf({ SVC_GATEWAY_FILE: fileOf('none') })).toBe(
      `SVC_GATEWAY_FILE: cannot read ${fileOf('none')} (ENOENT): there is no such file`,
    );
  });
});

const addresses = z.object({
  DATABASE_URL: databaseUrlSetting.optional(),
  SOLANA_RPC_URL: httpUrlSetting.optional(),
  SOLANA_WS_URL: websocketUrlSetting.optional(),
});

describe('an address setting', () => {
  it.each([
    ['DATABASE_URL', 'mysql://user:secret@database/svc'],
    ['DATABASE_URL', 'postgres://user:se#cret@database/svc'],
    ['SOLANA_RPC_URL', 'ftp://secret.example.com'],
    ['SOLANA_WS_URL', 'http://secret.example.com'],
  ] as const)('is refused with its name but without its value: %s=%s', (name, value) => {
    const parse = () => parseEnvironment(addresses, { [name]: value });
    expect(parse).toThrow(`${name}: must be a URL that begins with`);
    expect(parse).not.toThrow(/secret/);
  });

  it.each([
    ['DATABASE_URL', 'postgres://user:se%23cret@10.0.0.5:5432/svc?sslmode=require'],
    ['DATABASE_URL', 'postgresql://user@[::1]/svc'],
    ['DATABASE_URL', 'postgres:///svc?host=/var/run/postgresql'],
    ['SOLANA_RPC_URL', 'https://rpc.example.com/?api-key=x'],
    ['SOLANA_RPC_URL', 'http://[::1]:8899'],
  ] as const)('is accepted unchanged: %s=%s', (name, value) => {
    expect(parseEnvironment(addresses, { [name]: value })).toEqual({ [name]: value });
  });
});

/** Values that a slip of the hand or a template leaves behind. */
const SLIPS = [
  '0',
  '-1',
  '1e400',
  '9'.repeat(400),
  'x y',
  '{{ unset }}',
  '\u0000',
  'true,false',
  '1.5',
];
const LIBRARY_WORDS = /invalid|expected|received|zod|undefined|NaN|null/i;

describe.each(Object.entries(SETTINGS))('the settings of %s', (_process, settings) => {
  const faultsOf = (environment: NodeJS.ProcessEnv): readonly string[] => {
    try {
      parseEnvironment(settings as z.ZodObject, environment);
      return [];
    } catch (error) {
      if (error instanceof ConfigError) return error.faults;
      throw error;
    }
  };

  it.each(Object.keys(settings.shape))('refuse a malformed %s in one plain line', (name) => {
    const missing = faultsOf({});
    expect(faultsOf({ [name]: '' })).toEqual(missing);
    for (const slip of SLIPS) {
      const faults = faultsOf({ [name]: slip }).filter((fault) => !missing.includes(fault));
      expect(faults.length).toBeLessThanOrEqual(1);
      for (const fault of faults) {
        expect(fault).toMatch(new RegExp(`^${name}: [^\n]{5,200}$`));
        expect(fault).not.toMatch(LIBRARY_WORDS);
        if (slip.length > 4) expect(fault).not.toContain(slip);
      }
    }
  });
});
