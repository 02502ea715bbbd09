import { describe, expect, it } from '@jest/globals';
import { base58 } from '@scure/base';
import { Keypair } from '@solana/web3.js';
import { allowsLoopback, loadConfig } from '../../stack/config.ts';

const AUTHORITY_KEY = base58.encode(Keypair.generate().secretKey);
const CLUSTER = 'https://api.mainnet-beta.solana.com';

describe('a stack', () => {
  it.each([
    { where: 'the local ledger', environment: {}, verb: 'allows' },
    {
      where: 'a ledger on this machine',
      environment: { SOLANA_RPC_URL: 'http://127.0.0.1:8899' },
      verb: 'allows',
    },
    {
      where: 'a ledger at a name of this machine',
      environment: { SOLANA_RPC_URL: 'http://localhost:8899' },
      verb: 'allows',
    },
    {
      where: 'a ledger on this machine by IPv6',
      environment: { SOLANA_RPC_URL: 'http://[::1]:8899' },
      verb: 'allows',
    },
    {
      where: 'a test validator elsewhere that it sets up',
      environment: { SOLANA_RPC_URL: 'http://10.0.0.7:8899', SVC_AUTHORITY_KEY: AUTHORITY_KEY },
      verb: 'allows',
    },
    { where: 'a cluster', environment: { SOLANA_RPC_URL: CLUSTER }, verb: 'refuses' },
    {
      where: 'a cluster and an empty setting',
      environment: { SOLANA_RPC_URL: CLUSTER, SVC_ALLOW_LOOPBACK: '' },
      verb: 'refuses',
    },
    {
      where: 'a cluster, where the operator wants it',
      environment: { SOLANA_RPC_URL: CLUSTER, SVC_ALLOW_LOOPBACK: 'true' },
      verb: 'allows',
    },
    {
      where: 'the local ledger, where the operator does not want it',
      environment: { SVC_ALLOW_LOOPBACK: 'false' },
      verb: 'refuses',
    },
  ])('$verb workers and webhooks on this machine with $where', ({ environment, verb }) => {
    expect(allowsLoopback(loadConfig(environment))).toBe(verb === 'allows');
  });
});
