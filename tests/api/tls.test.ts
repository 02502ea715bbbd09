import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import type { IncomingMessage } from 'node:http';
import https from 'node:https';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { base58 } from '@scure/base';
import { Keypair } from '@solana/web3.js';
import express from 'express';
import { loadConfig } from '../../api/config.ts';
import { type Listening, listen, serve } from '../../api/http/server.ts';
import { ownFolder } from '../../testing/ownFolder.ts';
import { createSelfSigned } from './selfSigned.ts';

const { certificate, key } = createSelfSigned();
const folder = ownFolder('tls');
let listening: Listening | undefined;

beforeAll(async () => {
  await writeFile(join(folder, 'cert.pem'), certificate);
  await writeFile(join(folder, 'key.pem'), key);
});

afterEach(async () => {
  await listening?.close();
  listening = undefined;
});

/** Opens a port with these settings; what a test does not reach is set to something. */
async function open(settings: NodeJS.ProcessEnv): Promise<Listening> {
  listening = await listen(
    loadConfig({
      DATABASE_URL: 'postgres://127.0.0.1/none',
      SOLANA_RPC_URL: 'http://127.0.0.1:1',
      SVC_GATEWAY: Keypair.generate().publicKey.toBase58(),
      SVC_SIGNER_KEY: base58.encode(Keypair.generate().secretKey),
      SVC_SECRETS_KEY: Buffer.alloc(32).toString('base64'),
      PORT: '0',
      ...settings,
    }),
  );
  const app = express().get('/', (_request, response) => void response.send('hello'));
  serve(listening.server, app, listening.url);
  return listening;
}

const tls = () => ({ TLS_CERT: join(folder, 'cert.pem'), TLS_KEY: join(folder, 'key.pem') });
const everywhere = { HOST: '0.0.0.0' };

/** Trusts the test's certificate and no other. */
async function getByTls(url: string): Promise<string> {
  const request = https.get(url, { ca: certificate, agent: false });
  const [response] = (await once(request, 'response')) as [IncomingMessage];
  return text(response);
}

describe('the port of the API', () => {
  it('speaks HTTPS with its configured certificate [surface.tls]', async () => {
    const { url } = await open(tls());
    expect(url).toMatch(/^https:\/\/127\.0\.0\.1:\d+$/);
    expect(await getByTls(url)).toBe('hello');
  });

  it('is open beyond loopback with a certificate', async () => {
    const { url } = await open({ ...tls(), ...everywhere });
    expect(await getByTls(url.replace('0.0.0.0', '127.0.0.1'))).toBe('hello');
  });

  it('speaks plain HTTP on loopback [surface.tls]', async () => {
    const { url } = await open({});
    expect(await fetch(url).then((response) => response.text())).toBe('hello');
  });

  it('is not opened beyond loopback without a certificate [surface.tls]', async () => {
    await expect(open(everywhere)).rejects.toMatchObject({
      name: 'ConfigError',
      message: expect.stringContaining('set TLS_CERT and TLS_KEY'),
    });
  });

  it.each(['TLS_CERT', 'TLS_KEY'] as const)('is not opened with %s alone', async (name) => {
    await expect(open({ [name]: tls()[name] })).rejects.toMatchObject({
      name: 'ConfigError',
      message: expect.stringContaining('both TLS_CERT and TLS_KEY'),
    });
  });

  it('speaks plain HTTP beyond loopback when that is allowed explicitly [surface.tls]', async () => {
    const { url } = await open({ ...everywhere, SVC_ALLOW_PLAIN_HTTP: 'true' });
    const answer = await fetch(url.replace('0.0.0.0', '127.0.0.1'));
    expect(await answer.text()).toBe('hello');
  });
});
