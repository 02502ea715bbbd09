import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Keypair } from '@solana/web3.js';
import { runCli } from '../../testing/cli.ts';
import { type RunningService, startRunningService } from '../../testing/service/runningService.ts';

let service: RunningService;
let wallet: Keypair;

beforeAll(async () => {
  service = await startRunningService();
  wallet = Keypair.generate();
});
afterAll(() => service?.close());

async function key(...words: string[]) {
  const signer = ['--signer', JSON.stringify([...wallet.secretKey])];
  return runCli(['key', ...words, '--service', service.baseUrl, ...signer]);
}

/** What /v1 says of a key. */
async function ownerOf(apiKey: string): Promise<string | undefined> {
  const answer = await service.get('/v1/account', apiKey);
  return answer.wallet ?? answer.error.code;
}

describe('svc key', () => {
  it('makes the key of a wallet, alone on standard output, and leaves no session', async () => {
    const { code, output, error } = await key('create');
    expect(code).toBe(0);
    expect(output).toMatch(/^svc_live_\w{32}\n$/);
    expect(error).toMatch(/^This key is shown once\. .+\n$/);
    expect(await ownerOf(output.trim())).toBe(wallet.publicKey.toBase58());
    const { rowCount } = await service.pool.query('select from service.sessions');
    expect(rowCount).toBe(0);
  });

  it('refuses a second key, and names the commands that help', async () => {
    expect(await key('create')).toEqual({
      ...{ code: 1, output: '' },
      error: 'The wallet has a live key already: regenerate it, or revoke it first.\n',
    });
  });

  it('puts another in its place at once, and ends it', async () => {
    const first = (await key('regenerate', '--yes')).output.trim();
    const second = (await key('regenerate', '--yes')).output.trim();
    expect([await ownerOf(first), await ownerOf(second)]).toEqual([
      ...['invalid_api_key', wallet.publicKey.toBase58()],
    ]);

    expect(await key('revoke', '--yes')).toEqual({
      ...{ code: 0, output: '' },
      error: `The key of ${wallet.publicKey} is revoked.\n`,
    });
    expect(await ownerOf(second)).toBe('invalid_api_key');
    for (const verb of ['regenerate', 'revoke']) {
      expect(await key(verb, '--yes')).toEqual({
        ...{ code: 1, output: '' },
        error: 'The wallet has no key that this could change.\n',
      });
    }
  });

  it('asks before it ends a key, and without a terminal changes nothing', async () => {
    const made = (await key('create')).output.trim();
    for (const verb of ['regenerate', 'revoke']) {
      expect(await key(verb)).toEqual({
        ...{ code: 1, output: '' },
        error: 'The key is as it was. Without a terminal, --yes says that it is meant.\n',
      });
    }
    expect(await ownerOf(made)).toBe(wallet.publicKey.toBase58());
  });

  it("is not the operators' svc keys, which names the database, and each help names the other", async () => {
    expect((await runCli(['key', '--help'])).output).toContain('svc keys');
    expect((await runCli(['keys', '--help'])).output).toMatch(/database.*svc key,/s);
    const { code, error } = await runCli(['key', 'create', '--wallet', 'a']);
    expect([code, error]).toEqual([1, expect.stringContaining('--service')]);
  });
});
