import { randomBytes } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import { base58 } from '@scure/base';
import { Keypair } from '@solana/web3.js';
import { loadConfig as loadApiConfig } from '../../api/config.ts';
import { loadConfig as loadIndexerConfig } from '../../indexer/config.ts';

const secretKey = () => base58.encode(Keypair.generate().secretKey);
const [PRESENT, PREVIOUS] = [randomBytes(32), randomBytes(32)];
const SHARED = {
  DATABASE_URL: 'postgres://127.0.0.1/svc',
  SOLANA_RPC_URL: 'http://127.0.0.1:8899',
  SVC_SECRETS_KEY: PRESENT.toString('base64'),
};
const loadApi = (settings: NodeJS.ProcessEnv) =>
  loadApiConfig({
    ...SHARED,
    SVC_SIGNER_KEY: secretKey(),
    SVC_GATEWAY: Keypair.generate().publicKey.toBase58(),
    ...settings,
  });
const loadIndexer = (settings: NodeJS.ProcessEnv) =>
  loadIndexerConfig({ ...SHARED, SVC_CRANK_KEY: secretKey(), ...settings });

describe.each([
  ['API', loadApi],
  ['indexer', loadIndexer],
] as const)('SVC_SECRETS_KEY_PREVIOUS of the %s', (_process, load) => {
  it('may be left out or empty', () => {
    expect(load({})).not.toHaveProperty('SVC_SECRETS_KEY_PREVIOUS');
    expect(load({ SVC_SECRETS_KEY_PREVIOUS: '' })).not.toHaveProperty('SVC_SECRETS_KEY_PREVIOUS');
  });

  it('may be a second key', () => {
    expect(load({ SVC_SECRETS_KEY_PREVIOUS: PREVIOUS.toString('base64') })).toMatchObject({
      SVC_SECRETS_KEY: PRESENT,
      SVC_SECRETS_KEY_PREVIOUS: PREVIOUS,
    });
  });

  it.each([
    ['is SVC_SECRETS_KEY again', PRESENT.toString('base64')],
    ['is too short', randomBytes(31).toString('base64')],
    ['is not base64', 'a passphrase that is easy to remember!!'],
  ])('is refused without its value when it %s', (_fault, text) => {
    const start = () => load({ SVC_SECRETS_KEY_PREVIOUS: text });
    expect(start).toThrow(/^SVC_SECRETS_KEY_PREVIOUS: /);
    expect(start).not.toThrow(text);
  });
});
