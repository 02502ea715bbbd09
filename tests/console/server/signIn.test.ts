import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Keypair } from '@solana/web3.js';
import { createBurstLimit } from '../../../api/http/middleware/authentication.ts';
import { sign } from '../../../programs/client/proof.ts';
import {
  type ConsoleScene,
  openConsoleScene,
  PUBLIC_URL,
  type SignedText,
  signedText,
  signIn,
  signText,
} from './consoleScene.ts';

let nowMs = Date.now();
let scene: ConsoleScene;

beforeAll(async () => {
  scene = await openConsoleScene({ console: { nowMs: () => nowMs } });
});

afterAll(() => scene.close());

const post = (body: unknown) => scene.call('POST /session', { body });
const reasonOf = async (body: SignedText) => {
  const answer = await post(body);
  expect(answer.body.error).toMatchObject({ code: 'sign_in_refused' });
  expect(answer.status).toBe(401);
  expect(answer.headers.getSetCookie()).toEqual([]);
  return answer.body.error.message;
};

describe('the text to sign', () => {
  it('is that of Sign-In-With-Solana, for this service and five minutes', async () => {
    const address = scene.wallet.publicKey.toBase58();

    const { body } = await scene.call('POST /session/message', { body: { address } });

    const { input, message } = body;
    expect(message.split('\n')).toEqual([
      'console.example.com wants you to sign in with your Solana account:',
      ...[address, '', input.statement, '', `URI: ${PUBLIC_URL}`, 'Version: 1'],
      ...['Chain ID: solana:localnet', `Nonce: ${input.nonce}`, `Issued At: ${input.issuedAt}`],
      `Expiration Time: ${input.expirationTime}`,
    ]);
    expect(Date.parse(input.expirationTime) - Date.parse(input.issuedAt)).toBe(300_000);
  });

  it('is refused for what is no address, by the name of the field', async () => {
    const { status, body } = await scene.call('POST /session/message', {
      body: { address: '<b>' },
    });

    expect([status, body.error.param]).toEqual([400, 'address']);
  });
});

describe('a sign-in', () => {
  it('opens a session by a cookie that scripts and other sites cannot use', async () => {
    const answer = await post(await signText(scene.call, scene.wallet));

    expect(answer.status).toBe(200);
    expect(answer.body.wallet).toBe(scene.wallet.publicKey.toBase58());
    expect(answer.headers.getSetCookie()).toEqual([
      expect.stringMatching(
        /^__Host-svc_session=[\w-]{43}; Path=\/; HttpOnly; Secure; SameSite=Strict; Max-Age=604800$/,
      ),
    ]);
  });

  it('stores the hash of its token, never the token', async () => {
    const cookie = await signIn(scene.call, scene.wallet);
    const { rows } = await scene.pool.query('select * from service.sessions');
    expect(JSON.stringify(rows)).not.toContain(cookie.split('=')[1]);
  });

  it('is refused when it was used before, also by another process', async () => {
    const signed = await signText(scene.call, scene.wallet);
    await post(signed);
    const other = await scene.another();

    expect(await reasonOf(signed)).toContain('used for a sign-in before');
    const replayed = await other.call('POST /session', { body: signed });
    expect(replayed.body.error.code).toBe('sign_in_refused');
    await other.close();
  });

  it('opens one session when it is sent many times at once', async () => {
    const signed = await signText(scene.call, scene.wallet);

    const answers = await Promise.all(Array.from({ length: 8 }, () => post(signed)));

    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
  });

  it('is refused five minutes after its text was made', async () => {
    const signed = await signText(scene.call, scene.wallet);
    nowMs += 300_000;

    expect(await reasonOf(signed)).toContain('too late');
  });

  it('is refused for a text of another service, or one that was altered', async () => {
    const address = scene.wallet.publicKey.toBase58();
    const { body } = await scene.call('POST /session/message', { body: { address } });
    const altered = [
      body.message.replace('console.example.com', 'evil.example.com'),
      body.message.replace(body.input.expirationTime, '2099-01-01T00:00:00.000Z'),
      `${body.message}\n`,
      `Off-chain: ${body.message}`,
    ];

    for (const message of altered) {
      const reason = await reasonOf(signedText(scene.wallet, { message, input: body.input }));
      expect(reason).toContain('Another text was signed');
    }
  });

  it('is refused with a nonce of another wallet or another service', async () => {
    const { call, wallet, stranger } = scene;
    const foreign = await signText(call, stranger);
    const other = await openConsoleScene({ console: { secrets: [randomBytes(32)] } });
    const elsewhere = await signText(other.call, wallet);
    await other.close();

    const stolen = { ...foreign, address: wallet.publicKey.toBase58() };
    expect(await reasonOf(stolen)).toContain('not made here for this wallet');
    expect(await reasonOf(elsewhere)).toContain('not made here for this wallet');
  });

  it('is refused with the signature of another wallet, or with none', async () => {
    const signed = await signText(scene.call, scene.wallet);
    const bytes = Buffer.from(signed.signed_message, 'base64');
    const foreign = Buffer.from(sign(bytes, scene.stranger)).toString('base64');

    for (const signature of [foreign, '', Buffer.alloc(64).toString('base64')]) {
      expect(await reasonOf({ ...signed, signature })).toContain('not of this wallet');
    }
    expect((await post(signed)).status).toBe(200);
  });

  it('is limited with refused keys when it fails, and never when it holds', async () => {
    const refusals = createBurstLimit({ burst: 2, refillPerSecond: 1, nowMs: () => 0 });
    const limited = await scene.another({ refusals });
    const wrong = { ...(await signText(limited.call, scene.wallet)), signature: '' };
    const statuses: number[] = [];
    for (let attempt = 0; attempt < 3; attempt += 1) {
      statuses.push((await limited.call('POST /session', { body: wrong })).status);
    }

    expect(statuses).toEqual([401, 401, 429]);
    expect(await signIn(limited.call, Keypair.generate())).toContain('__Host-svc_session=');
    await limited.close();
  });
});
