import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { assertDevelopment } from '../../../api/console/developmentWallet.ts';
import { connectPooledRpc } from '../../../common/net/pooledRpc.ts';
import { type Localnet, startLocalnet } from '../../../localnet/start.ts';

let development: Localnet;
let other: Localnet;

beforeAll(async () => {
  development = await startLocalnet({ isDevelopment: true });
  other = await startLocalnet();
});

afterAll(() => Promise.all([development.close(), other.close()]));

const on = ({ rpcUrl }: Localnet, changed: object = {}) =>
  assertDevelopment({
    walletUrl: 'http://127.0.0.1:9000',
    host: '127.0.0.1',
    publicUrl: 'http://127.0.0.1:8080',
    rpc: connectPooledRpc({ url: rpcUrl }),
    ...changed,
  });

describe('the setting of the development wallet', () => {
  it('is taken on loopback with a ledger for development', async () => {
    await expect(on(development)).resolves.toBeUndefined();
    await expect(on(development, { host: '::1' })).resolves.toBeUndefined();
    await expect(on(development, { publicUrl: 'http://localhost:8080' })).resolves.toBeUndefined();
  });

  it('is refused with any other ledger', async () => {
    await expect(on(other)).rejects.toThrow('the ledger is not for development');
    await expect(on(other, { walletUrl: undefined })).resolves.toBeUndefined();
  });

  it.each([
    { host: '0.0.0.0' },
    { host: '192.168.1.2' },
    { publicUrl: 'https://console.example.com' },
    { walletUrl: 'http://10.0.0.1:9000' },
  ])('is refused with the address %j', async (changed) => {
    await expect(on(development, changed)).rejects.toThrow('refused beyond loopback');
  });
});
