import { describe, expect, it } from '@jest/globals';
import { Keypair } from '@solana/web3.js';
import bs58 from 'bs58';
import { loadConfig } from '../../../indexer/config.ts';
import { SECRETS_KEY } from '../../../testing/indexer/indexerProcess.ts';

const REQUIRED = {
  DATABASE_URL: 'postgres://127.0.0.1/svc',
  SOLANA_RPC_URL: 'http://127.0.0.1:8899',
  SVC_CRANK_KEY: bs58.encode(Keypair.generate().secretKey),
  SVC_SECRETS_KEY: SECRETS_KEY,
};
const HELIUS = {
  HELIUS_API_KEY: 'a key',
  HELIUS_WEBHOOK_URL: 'https://indexer.example/helius',
  HELIUS_WEBHOOK_SECRET: 'x'.repeat(32),
};

describe('the settings of the Helius webhook', () => {
  it('may all be absent, or all be there', () => {
    expect(loadConfig(REQUIRED).HELIUS_WEBHOOK_URL).toBeUndefined();
    expect(loadConfig({ ...REQUIRED, ...HELIUS })).toMatchObject(HELIUS);
  });

  for (const name of ['HELIUS_API_KEY', 'HELIUS_WEBHOOK_SECRET'] as const) {
    it(`are refused where the URL is there without ${name}`, () => {
      const { [name]: _missing, ...others } = HELIUS;
      expect(() => loadConfig({ ...REQUIRED, ...others })).toThrow(/HELIUS_WEBHOOK_URL: needs/);
    });
  }

  it('are refused where the URL is not https or the secret can be guessed', () => {
    const url = 'http://indexer.example/helius';
    const secret = 'hunter2 hunter2';
    const wrong = { ...REQUIRED, ...HELIUS };
    expect(() => loadConfig({ ...wrong, HELIUS_WEBHOOK_URL: url })).toThrow(/HELIUS_WEBHOOK_URL/);
    const load = () => loadConfig({ ...wrong, HELIUS_WEBHOOK_SECRET: secret });
    expect(load).toThrow(/HELIUS_WEBHOOK_SECRET: must be 32 to 255 visible characters/);
    expect(load).not.toThrow(/hunter2/);
  });
});
