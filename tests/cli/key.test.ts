import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { base58 } from '@scure/base';
import { Keypair } from '@solana/web3.js';

import { sign } from '../../programs/client/proof.ts';
import { MACHINE_ENVIRONMENT, SVC_MAIN } from '../../testing/childProcess.ts';
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

/** Makes a key for a wallet that signs elsewhere. @param answer what is written when it asks */
async function createElsewhere(hardware: Keypair, answer: (text: string) => string) {
  const words = ['key', 'create', '--service', service.baseUrl];
  const args = [SVC_MAIN, ...words, '--hardware-wallet', hardware.publicKey.toBase58()];
  const child = spawn(process.execPath, args, { env: MACHINE_ENVIRONMENT });
  let [output, error] = ['', ''];
  child.stdout.on('data', (part) => {
    output += part;
  });
  child.stderr.on('data', (part) => {
    error += part;
    const text = /sign-offchain-message .*?'(.+)'/s.exec(error)?.[1];
    if (text !== undefined && error.endsWith('base58: ')) child.stdin.end(answer(text));
  });
  const [code] = await once(child, 'close');
  return { code, output, error };
}

/** As `solana sign-offchain-message` signs a text of several lines. */
function signEnvelope(text: string, hardware: Keypair): string {
  const header = Buffer.from('\xffsolana offchain\0\x01__', 'latin1');
  header.writeUInt16LE(text.length, header.length - 2);
  return base58.encode(sign(Buffer.concat([header, Buffer.from(text)]), hardware));
}

const refused = (error: string) => ({ code: 1, output: '', error });

/** What /v1 says of a key. */
async function ownerOf(apiKey: string): Promise<string | undefined> {
  const answer = await service.get('/v1/account', apiKey);
  return answer.wallet ?? answer.error.code;
}

describe('svc key', () => {
  it('prints only the key on standard output, and leaves no session', async () => {
    const { code, output, error } = await key('create');
    expect(code).toBe(0);
    expect(output).toMatch(/^svc_live_\w{32}\n$/);
    expect(error).toMatch(/^This key is shown once\. .+\n$/);
    expect(await ownerOf(output.trim())).toBe(wallet.publicKey.toBase58());
    const { rowCount } = await service.pool.query('select from service.sessions');
    expect(rowCount).toBe(0);
    expect(await key('create')).toEqual(
      refused('The wallet has a live key already: regenerate it, or revoke it first.\n'),
    );
  });

  it('puts another in its place at once, and ends it', async () => {
    const first = (await key('regenerate', '--yes')).output.trim();
    const second = (await key('regenerate', '--yes')).output.trim();
    expect([await ownerOf(first), await ownerOf(second)]).toEqual([
      ...['invalid_api_key', wallet.publicKey.toBase58()],
    ]);

    const revoked = `The key of ${wallet.publicKey} is revoked.\n`;
    expect(await key('revoke', '--yes')).toEqual({ code: 0, output: '', error: revoked });
    expect(await ownerOf(second)).toBe('invalid_api_key');
    for (const verb of ['regenerate', 'revoke']) {
      expect(await key(verb, '--yes')).toEqual(
        refused('The wallet has no key that this could change.\n'),
      );
    }
  });

  it('asks before it ends a key, and without a terminal changes nothing', async () => {
    const made = (await key('create')).output.trim();
    for (const verb of ['regenerate', 'revoke']) {
      expect(await key(verb)).toEqual(
        refused('The key is as it was. Without a terminal, --yes says that it is meant.\n'),
      );
    }
    expect(await ownerOf(made)).toBe(wallet.publicKey.toBase58());
  });

  it('asks for the signature of a wallet whose key no file holds', async () => {
    const hardware = Keypair.generate();
    const { code, output } = await createElsewhere(
      hardware,
      (text) => `${signEnvelope(text, hardware)}\n`,
    );
    expect([code, await ownerOf(output.trim())]).toEqual([0, hardware.publicKey.toBase58()]);

    const stranger = (text: string) => `${signEnvelope(text, wallet)}\n`;
    for (const [answer, reason] of [
      [stranger, 'The signature is not of this wallet.'],
      [() => '0\n', 'That is no signature in base58. Nothing was sent.'],
      [() => '', 'The input ended without an answer.'],
    ] as const) {
      const refused = await createElsewhere(hardware, answer);
      expect([refused.code, refused.error]).toEqual([1, expect.stringContaining(reason)]);
    }
  });

  it('names both options where neither says who signs, and refuses both', async () => {
    const create = ['key', 'create', '--service', service.baseUrl];
    expect(await runCli(create)).toEqual(
      refused('Say who signs: --signer or --hardware-wallet.\n'),
    );
    const both = await key('create', '--hardware-wallet', wallet.publicKey.toBase58());
    expect([both.code, both.error]).toEqual([1, expect.stringContaining('cannot be used with')]);
  });

  it("is not the operators' svc keys, and each help names the other", async () => {
    expect((await runCli(['key', '--help'])).output).toContain('svc keys');
    expect((await runCli(['keys', '--help'])).output).toMatch(/database.*svc key,/s);
  });
});

describe('svc keys', () => {
  it('suspends a wallet, with a key and without one, until it is reinstated', async () => {
    const address = wallet.publicKey.toBase58();
    const env = { DATABASE_URL: service.apiEnvironment.DATABASE_URL as string };
    const keys = (verb: string, ...more: string[]) =>
      runCli(['keys', verb, '--wallet', address, ...more], { env });
    const listed = async () => (await runCli(['keys', 'list'], { env })).output;
    const done = (error: string) => ({ code: 0, output: '', error: `${error}\n` });

    const suspension = await keys('suspend', '--reason', 'spam');
    expect(suspension).toEqual(done(`The wallet ${address} is suspended.`));
    expect(await listed()).toMatch(
      new RegExp(`${address} +. suspended . \\S+Z +. operator +. spam`),
    );
    expect(await keys('suspend')).toEqual(refused(`The wallet ${address} is suspended already.\n`));
    expect(await key('revoke', '--yes')).toEqual(done(`The key of ${address} is revoked.`));
    for (const answer of [await key('create'), await keys('create')]) {
      expect(answer).toEqual(
        refused(
          `The wallet ${address} is suspended: spam. ` +
            'The operator of this service can reinstate it.\n',
        ),
      );
    }
    expect(await listed()).toMatch(new RegExp(`${address} +. suspended . no key +. operator`));
    expect(await keys('reinstate')).toEqual(done(`The wallet ${address} is reinstated.`));
    expect(await keys('reinstate')).toEqual(refused(`The wallet ${address} is not suspended.\n`));
    expect((await keys('create')).output).toMatch(/^svc_live_\w{32}\n$/);
    expect(await keys('create')).toEqual(refused(expect.stringMatching(/^.+\n$/) as never));
  });
});
