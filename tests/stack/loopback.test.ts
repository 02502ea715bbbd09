import { describe, expect, it } from '@jest/globals';
import { base58 } from '@scure/base';
import { Keypair } from '@solana/web3.js';
import { allowsLoopback, loadConfig } from '../../stack/config.ts';

const AUTHORITY_KEY = base58.encode(Keypair.generate().secretKey);
const CLUSTER = 'https://api.mainnet-beta.solana.com';

describe('a stack', () => {
  it.each<[string, string, Record<string, string>]>([
    ['allows', 'the local ledger', {}],
    ['allows', 'a ledger on this machine', { SOLANA_RPC_URL: 'http://127.0.0.1:8899' }],
    ['allows', 'a ledger at a name of this machine', { SOLANA_RPC_URL: 'http://localhost:8899' }],
    ['allows', 'a ledger on this machine by IPv6', { SOLANA_RPC_URL: 'http://[::1]:8899' }],
    [
      'allows',
      'a test validator elsewhere that it sets up',
      { SOLANA_RPC_URL: 'http://10.0.0.7:8899', SVC_AUTHORITY_KEY: AUTHORITY_KEY },
    ],
    ['refuses', 'a cluster', { SOLANA_RPC_URL: CLUSTER }],
    [
      'refuses',
      'a cluster and an empty setting',
      { SOLANA_RPC_URL: CLUSTER, SVC_ALLOW_LOOPBACK: '' },
    ],
    [
      'allows',
      'a cluster, where the operator wants it',
      { SOLANA_RPC_URL: CLUSTER, SVC_ALLOW_LOOPBACK: 'true' },
    ],
    [
      'refuses',
      'the local ledger, where the operator does not want it',
      { SVC_ALLOW_LOOPBACK: 'false' },
    ],
  ])('%s workers and webhooks on this machine with %s', (verb, _where, environment) => {
    expect(allowsLoopback(loadConfig(environment))).toBe(verb === 'allows');
  });
});
