import { describe, expect, it } from '@jest/globals';
import { base58 } from '@scure/base';
import { Keypair } from '@solana/web3.js';
import { loadConfig } from '../../api/config.ts';
import { SECRETS_KEY } from '../../testing/indexer/indexerProcess.ts';

const KEY = Keypair.generate();
const REQUIRED = {
  DATABASE_URL: 'postgres://127.0.0.1/svc',
  SOLANA_RPC_URL: 'http://127.0.0.1:8899',
  SVC_GATEWAY: KEY.publicKey.toBase58(),
  SVC_SIGNER_KEY: base58.encode(KEY.secretKey),
  SVC_SECRETS_KEY: SECRETS_KEY,
};

describe('the API settings', () => {
  it.each([
    ['SOLANA_RPC_URL', 'https://svc:hunter2@rpc.internal/'],
    // A timer that was set for longer than timers count would end at once.
  ])('refuse as %s an address that no request can use: %s', (name, value) => {
    expect(loadConfig(REQUIRED)).toMatchObject({ SOLANA_RPC_URL: REQUIRED.SOLANA_RPC_URL });
    const load = () => loadConfig({ ...REQUIRED, [name]: value });
    expect(load).toThrow(new RegExp(`^${name}: `));
    expect(load).not.toThrow(/hunter2/);
  });
});
