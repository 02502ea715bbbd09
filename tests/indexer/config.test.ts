import { describe, expect, it } from '@jest/globals';
import { base58 } from '@scure/base';
import { Keypair } from '@solana/web3.js';
import { loadConfig } from '../../indexer/config.ts';
import { SECRETS_KEY } from '../../testing/indexer/indexerProcess.ts';

const REQUIRED = {
  DATABASE_URL: 'postgres://127.0.0.1/svc',
  SOLANA_RPC_URL: 'http://127.0.0.1:8899',
  SVC_CRANK_KEY: base58.encode(Keypair.generate().secretKey),
  SVC_SECRETS_KEY: SECRETS_KEY,
};

describe('the indexer settings', () => {
  it.each([
    ['DATABASE_URL', 'postgresql://svc:p%23w@db.internal:5432/svc?sslmode=require'],
    ['DATABASE_URL', 'postgres:///svc?host=/var/run/postgresql'],
    ['SOLANA_RPC_URL', 'https://rpc.internal/?api-key=hunter2'],
    ['SOLANA_WS_URL', 'ws://127.0.0.1:8900'],
    ['SOLANA_WS_URL', 'wss://rpc.internal/?api-key=hunter2'],
  ])('accept as %s the address %s', (name, url) => {
    expect(loadConfig({ ...REQUIRED, [name]: url })).toMatchObject({ [name]: url });
  });

  it.each([
    ['DATABASE_URL', 'mysql://svc:hunter2@db.internal/svc'],
    ['DATABASE_URL', 'postgres://svc:hunter2#x@db.internal/svc'],
    ['DATABASE_URL', 'hunter2'],
    ['SOLANA_RPC_URL', 'ws://rpc.internal/?api-key=hunter2'],
    ['SOLANA_RPC_URL', 'rpc.internal/?api-key=hunter2'],
    ['SOLANA_RPC_URL', 'https://svc:hunter2@rpc.internal/'],
    ['SOLANA_WS_URL', 'https://rpc.internal/?api-key=hunter2'],
    ['SOLANA_WS_URL', 'wss:// hunter2'],
  ])('refuse as %s the address %s, with an error that contains only the name', (name, url) => {
    const load = () => loadConfig({ ...REQUIRED, [name]: url });
    expect(load).toThrow(new RegExp(`^${name}: `));
    expect(load).not.toThrow(/hunter2/);
  });

  it.each([
    ['1209600', true],
    ['1209601', false],
    ['31536000', false],
  ])('accept a reconciliation interval of %s s if a timer can wait: %s', (seconds, is) => {
    const load = () => loadConfig({ ...REQUIRED, SVC_RECONCILE_INTERVAL_SECONDS: seconds });
    if (is) expect(load().SVC_RECONCILE_INTERVAL_SECONDS).toBe(Number(seconds));
    else expect(load).toThrow(/^SVC_RECONCILE_INTERVAL_SECONDS: /);
  });
});
