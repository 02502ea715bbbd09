import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { base58 } from '@scure/base';
import { Keypair } from '@solana/web3.js';
import { loadConfig as loadApi } from '../../api/config.ts';
import { loadConfig as loadIndexer } from '../../indexer/config.ts';
import { loadConfig as loadLocalnet } from '../../localnet/config.ts';
import { SECRETS_KEY } from '../../testing/indexer/indexerProcess.ts';
import { loadConfig as loadWorker } from '../../worker/config.ts';
import { checkout } from '../docs/documents.ts';
import { settingsIn } from './settingsIn.ts';

const example = readFileSync(join(checkout, '.env.example'), 'utf8');

const KEY = Keypair.generate();
const SECRET = base58.encode(KEY.secretKey);
/** What the processes do not start without. */
const REQUIRED = {
  DATABASE_URL: 'postgres://127.0.0.1/svc',
  SOLANA_RPC_URL: 'http://127.0.0.1:8899',
  SVC_GATEWAY: KEY.publicKey.toBase58(),
  SVC_SIGNER_KEY: SECRET,
  SVC_SECRETS_KEY: SECRETS_KEY,
  SVC_CRANK_KEY: SECRET,
  WORKER_AUTHORITY: KEY.publicKey.toBase58(),
  WORKER_PROOF_KEY: SECRET,
  WORKER_ENGINE: 'builtin',
  WORKER_GATEWAYS: 'any',
  LOCALNET_PAYER_KEY: SECRET,
};
const PROCESSES = [
  { name: 'api', load: loadApi },
  { name: 'indexer', load: loadIndexer },
  { name: 'worker', load: loadWorker },
  { name: 'localnet', load: loadLocalnet },
] as const;

/** The settings under one heading; the value that is shown of those that are not shown above it. */
function describedFor(name: string): [setting: string, value: string | undefined][] {
  const [, section = ''] = example.split(`# --- ${name} -`);
  const [own = ''] = section.split('\n# --- ');
  const lines = own.matchAll(/^# ([A-Z][A-Z0-9_]+(?:, [A-Z][A-Z0-9_]+)*)(?:=(\S*)| as above)/gm);
  return [...lines].flatMap(([, names = '', value]) =>
    names.split(', ').map((setting): [string, string | undefined] => [setting, value]),
  );
}

/** Its default, an address, is described in words. */
const isInWords = (setting: string): boolean => setting === 'SVC_PROGRAM_ID';

/** As a setting spells it; what is unset and has no default is nothing. */
const textOf = (taken: unknown): string => (taken === undefined ? '' : String(taken));

describe('.env.example', () => {
  it.each(PROCESSES)('describes every setting of the $name and no other', ({ name }) => {
    const described = describedFor(name).map(([setting]) => setting);
    expect(described.sort()).toEqual(settingsIn(`${name}/config.ts`).sort());
  });

  it('describes every setting of npm start itself', () => {
    const described = ['npm start', 'api', 'indexer', 'worker'].flatMap(describedFor);
    const names = new Set(described.map(([setting]) => setting));
    expect(settingsIn('stack/config.ts').filter((name) => !names.has(name))).toEqual([]);
  });

  it.each(PROCESSES)('shows the default of the $name for an unset setting', ({ name, load }) => {
    const taken: Record<string, unknown> = { ...load(REQUIRED) };
    const shown = describedFor(name).filter(
      ([setting, value]) => value !== undefined && !(setting in REQUIRED),
    );
    expect(shown.length).toBeGreaterThan(3);
    expect(shown).toEqual(
      shown.map(([setting, value]) => [
        setting,
        isInWords(setting) ? value : textOf(taken[setting]),
      ]),
    );
  });
});
