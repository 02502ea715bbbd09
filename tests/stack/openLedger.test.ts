import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { base58 } from '@scure/base';
import { Keypair } from '@solana/web3.js';
import { loadConfig as loadLocalnetConfig } from '../../localnet/config.ts';
import { withEscrow } from '../../localnet/escrow.ts';
import { type Localnet, startLocalnet } from '../../localnet/start.ts';
import { allowsLoopback, loadConfig } from '../../stack/config.ts';
import { openLedger } from '../../stack/openLedger.ts';

const address = () => Keypair.generate().publicKey.toBase58();
const secret = () => base58.encode(Keypair.generate().secretKey);
const NO_LISTENER = 'http://127.0.0.1:9';

let started: Localnet[];
beforeEach(() => {
  started = [];
});
afterEach(async () => {
  for (const localnet of started) await localnet.close();
});

const open = (environment: Record<string, string>) =>
  openLedger({
    config: loadConfig(environment),
    environment,
    async startLocalnet(settings) {
      const { LOCALNET_PAYER_KEY: payer } = loadLocalnetConfig(settings);
      const localnet = await startLocalnet(withEscrow({ payer: payer.publicKey }));
      started.push(localnet);
      return localnet.rpcUrl;
    },
  });

/** What a cluster's operator has to give. */
const cluster = () => ({
  SOLANA_RPC_URL: NO_LISTENER,
  SVC_PROGRAM_ID: address(),
  SVC_GATEWAY: address(),
  SVC_SIGNER_KEY: secret(),
  SVC_CRANK_KEY: secret(),
  SVC_SECRETS_KEY: 'sealed',
  SVC_WALLET: address(),
});

describe('a ledger that the stack sets up', () => {
  it.each([
    { where: 'local', environment: {} },
    {
      where: 'on a test validator',
      environment: { SOLANA_RPC_URL: NO_LISTENER, SVC_AUTHORITY_KEY: secret() },
    },
  ])('accepts only the published program, $where', async ({ environment }) => {
    await expect(open({ ...environment, SVC_PROGRAM_ID: address() })).rejects.toMatchObject({
      name: 'StackError',
      message: expect.stringContaining('SVC_PROGRAM_ID'),
    });
  });

  it('uses the stack’s own wallet and ignores SVC_WALLET', async () => {
    const SVC_WALLET = address();
    const opened = await open({ SVC_WALLET });
    expect(opened).toMatchObject({
      wallet: expect.not.stringMatching(SVC_WALLET),
      isOwnWallet: true,
    });
  });
});

describe('a cluster', () => {
  it("may have any program, and uses its operator's wallet", async () => {
    const environment = cluster();
    expect(await open(environment)).toMatchObject({
      wallet: environment.SVC_WALLET,
      isOwnWallet: false,
    });
  });

  it("names the missing keys of a cluster's operator", async () => {
    await expect(open({ SOLANA_RPC_URL: NO_LISTENER })).rejects.toMatchObject({
      name: 'StackError',
      message: expect.stringContaining('Missing: SVC_GATEWAY (address of your Gateway account), '),
    });
  });

  it('requires a wallet, and an empty setting does not count', async () => {
    await expect(open({ ...cluster(), SVC_WALLET: '' })).rejects.toThrow('Missing: SVC_WALLET');
  });
});

describe('workers and webhooks on this machine', () => {
  const CLUSTER = 'https://api.mainnet-beta.solana.com';
  it.each<[boolean, string, Record<string, string>]>([
    [true, 'the local ledger', {}],
    [true, 'a ledger on this machine', { SOLANA_RPC_URL: 'http://127.0.0.1:8899' }],
    [true, 'a ledger at a name of this machine', { SOLANA_RPC_URL: 'http://localhost:8899' }],
    [true, 'a ledger on this machine by IPv6', { SOLANA_RPC_URL: 'http://[::1]:8899' }],
    [
      true,
      'a test validator elsewhere that it sets up',
      { SOLANA_RPC_URL: 'http://10.0.0.7:8899', SVC_AUTHORITY_KEY: secret() },
    ],
    [false, 'a cluster', { SOLANA_RPC_URL: CLUSTER, SVC_ALLOW_LOOPBACK: '' }],
    [true, 'a cluster, if asked for', { SOLANA_RPC_URL: CLUSTER, SVC_ALLOW_LOOPBACK: 'true' }],
    [false, 'the local ledger, if refused', { SVC_ALLOW_LOOPBACK: 'false' }],
  ])('are allowed (%s) with %s', (isAllowed, _where, environment) => {
    expect(allowsLoopback(loadConfig(environment))).toBe(isAllowed);
  });
});
