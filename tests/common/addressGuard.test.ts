import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { type Dispatcher, fetch } from 'undici';
import {
  AddressRefusedError,
  assertNameAllowed,
  assertUrlAllowed,
  createGuardedAgents,
  createGuardedDispatcher,
  type GuardedAgents,
  type ResolveName,
} from '../../common/net/addressGuard.ts';
import { post } from '../../common/net/post.ts';

const notPublic = 'must lead to a public address';
const notHttps = 'must be an https URL';
const wrongPort = 'must use port 443, or one from 1024 up';

/** What a stranger might try, and why it is refused. */
const attempts: [attempt: string, url: string, reason: string][] = [
  ['plain HTTP', 'http://example.com/', notHttps],
  ['another protocol', 'ftp://example.com/', notHttps],
  ['a file', 'file:///etc/passwd', notHttps],
  ['credentials', 'https://user:password@example.com/', 'must not carry credentials'],
  ['a user name that looks like a host', 'https://example.com@127.0.0.1/', 'must not carry'],

  ['loopback', 'https://127.0.0.1/', notPublic],
  ['the rest of loopback', 'https://127.255.255.254/', notPublic],
  ['loopback over plain HTTP', 'http://127.0.0.1:8080/', notPublic],
  ['loopback in decimal', 'https://2130706433/', notPublic],
  ['loopback in octal', 'https://0177.0.0.1/', notPublic],
  ['loopback in hexadecimal', 'https://0x7f.0.0.1/', notPublic],
  ['loopback with parts left out', 'https://127.1/', notPublic],
  ['loopback with a trailing dot', 'https://127.0.0.1./', notPublic],
  ['loopback in full-width digits', 'https://１２７.０.０.１/', notPublic],
  ['loopback in circled digits', 'https://①②⑦.0.0.1/', notPublic],
  ['loopback, percent-encoded', 'https://%31%32%37.0.0.1/', notPublic],
  ['localhost', 'https://localhost/', notPublic],
  ['localhost with a trailing dot', 'https://localhost./', notPublic],
  ['localhost in capitals', 'https://LOCALHOST/', notPublic],
  ['a name below localhost', 'https://hooks.localhost/', notPublic],

  ['private 10/8', 'https://10.0.0.1/', notPublic],
  ['private 172.16/12', 'https://172.31.255.255/', notPublic],
  ['private 192.168/16', 'https://192.168.1.1/', notPublic],
  ['private in decimal', 'https://3232235777/', notPublic],
  ['link-local, where clouds keep credentials', 'https://169.254.169.254/', notPublic],
  ['carrier-grade NAT', 'https://100.64.0.1/', notPublic],
  ['unspecified', 'https://0.0.0.0/', notPublic],
  ['this network', 'https://0.1.2.3/', notPublic],
  ['multicast', 'https://224.0.0.1/', notPublic],
  ['broadcast', 'https://255.255.255.255/', notPublic],
  ['reserved', 'https://240.0.0.1/', notPublic],
  ['protocol assignments', 'https://192.0.0.1/', notPublic],
  ['documentation 192.0.2/24', 'https://192.0.2.1/', notPublic],
  ['documentation 198.51.100/24', 'https://198.51.100.1/', notPublic],
  ['documentation 203.0.113/24', 'https://203.0.113.1/', notPublic],
  ['benchmarking', 'https://198.19.255.255/', notPublic],
  ['6to4 relays', 'https://192.88.99.1/', notPublic],

  ['IPv6 loopback', 'https://[::1]/', notPublic],
  ['IPv6 loopback, written out', 'https://[0:0:0:0:0:0:0:1]/', notPublic],
  ['IPv6 unspecified', 'https://[::]/', notPublic],
  ['IPv6 link-local', 'https://[fe80::1]/', notPublic],
  ['IPv6 unique-local', 'https://[fd00::1]/', notPublic],
  ['IPv6 site-local', 'https://[fec0::1]/', notPublic],
  ['IPv6 multicast', 'https://[ff02::1]/', notPublic],
  ['IPv6 documentation 2001:db8::/32', 'https://[2001:db8::1]/', notPublic],
  ['IPv6 documentation 3fff::/20', 'https://[3fff::1]/', notPublic],
  ['IPv6 benchmarking', 'https://[2001:2::1]/', notPublic],
  ['IPv6 discard', 'https://[100::1]/', notPublic],
  ['IPv6 segment routing', 'https://[5f00::1]/', notPublic],
  ['IPv6 that is not assigned', 'https://[4000::1]/', notPublic],
  ['IPv4-mapped loopback', 'https://[::ffff:127.0.0.1]/', notPublic],
  ['IPv4-mapped private', 'https://[::ffff:10.0.0.1]/', notPublic],
  ['IPv4-mapped, in hexadecimal', 'https://[::ffff:a9fe:a9fe]/', notPublic],
  ['IPv4-compatible loopback', 'https://[::127.0.0.1]/', notPublic],
  ['IPv4-translated', 'https://[::ffff:0:10.0.0.1]/', notPublic],
  ['NAT64 of a private address', 'https://[64:ff9b::10.0.0.1]/', notPublic],
  ['NAT64 for local use', 'https://[64:ff9b:1::10.0.0.1]/', notPublic],
  ['6to4 of a private address', 'https://[2002:a00:1::1]/', notPublic],
  ['Teredo of a private address', 'https://[2001:0:a00:1::f5ff:fffe]/', notPublic],

  ['a name without a dot', 'https://intranet/', notPublic],
  ['a name of the local network', 'https://printer.local/', notPublic],
  ['a cloud’s metadata by name', 'https://metadata.google.internal/', notPublic],
  ['the same with a trailing dot', 'https://metadata.google.internal./', notPublic],
  ['a home network', 'https://router.home.arpa/', notPublic],

  ['a mail server', 'https://example.com:25/', wrongPort],
  ['a secure shell', 'https://example.com:22/', wrongPort],
  ['plain HTTP’s port', 'https://example.com:80/', wrongPort],
  ['the last privileged port', 'https://example.com:1023/', wrongPort],
];

describe('the address guard', () => {
  it.each(attempts)('refuses %s: %s', (_attempt, url, reason) => {
    const refusal = () => assertUrlAllowed(new URL(url), false);
    expect(refusal).toThrow(AddressRefusedError);
    expect(refusal).toThrow(reason);
  });

  it.each([
    'https://example.com/',
    'https://example.com./hooks?tenant=1#part',
    'https://example.com:443/',
    'https://example.com:1024/',
    'https://example.com:8443/',
    'https://bücher.example/',
    'https://localhost.example.com/',
    'https://93.184.215.14/',
    'https://172.32.0.1/',
    'https://[2606:2800:21f:cb07:6820:80da:af6b:8b2c]/',
  ])('accepts %s', (url) => {
    assertUrlAllowed(new URL(url), false);
  });

  it.each([
    'http://127.0.0.1:8080/',
    'https://127.0.0.1/',
    'http://[::1]:80/',
    'http://[::ffff:127.0.0.1]:8080/',
    'http://localhost:3000/',
    'http://localhost.:3000/',
    'http://hooks.localhost/',
  ])('accepts %s only when loopback is allowed', (url) => {
    assertUrlAllowed(new URL(url), true);
    expect(() => assertUrlAllowed(new URL(url), false)).toThrow(AddressRefusedError);
  });

  it.each([
    'http://example.com/',
    'http://10.0.0.1/',
    'https://10.0.0.1/',
    'https://169.254.169.254/',
    'ftp://127.0.0.1/',
    'http://user@127.0.0.1/',
  ])('refuses %s even when loopback is allowed', (url) => {
    expect(() => assertUrlAllowed(new URL(url), true)).toThrow(AddressRefusedError);
  });
});

describe('a host name', () => {
  const check = (resolve: ResolveName, allowLoopback = false) =>
    assertNameAllowed(new URL('https://hooks.example.com/'), { allowLoopback, resolve });

  it.each([
    ['a private address', ['10.0.0.1']],
    ['a public and a private address', ['93.184.215.14', '192.168.0.1']],
    ['a public IPv4 and a unique-local IPv6 address', ['93.184.215.14', 'fd00::1']],
    ['loopback', ['127.0.0.1']],
    ['something that is no address', ['hooks.example.com']],
  ])('is refused when it resolves to %s', async (_what, addresses) => {
    await expect(check(async () => addresses)).rejects.toThrow(AddressRefusedError);
  });

  it('is accepted when it resolves to public addresses', async () => {
    await check(async () => ['93.184.215.14', '2606:2800:21f:cb07:6820:80da:af6b:8b2c']);
  });

  it('is accepted without an address, since each connection is checked', async () => {
    await check(() => Promise.reject(new Error('queryA ENOTFOUND')));
  });

  it('is accepted when it resolves to loopback and that is allowed', async () => {
    await check(async () => ['127.0.0.1', '::1'], true);
    await expect(check(async () => ['127.0.0.1', '10.0.0.1'], true)).rejects.toThrow();
  });
});

describe('a guarded connection', () => {
  let server: Server;
  let port: number;
  let connections: number;
  let dispatcher: Dispatcher | undefined;

  beforeEach(async () => {
    connections = 0;
    server = createServer((request, response) => {
      if (request.url !== '/redirect') return void response.end('inside');
      response.writeHead(302, { location: `http://10.0.0.1:${port}/` }).end();
    });
    server.on('connection', () => {
      connections += 1;
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    port = (server.address() as AddressInfo).port;
  });

  afterEach(async () => {
    await dispatcher?.destroy();
    server.close();
    await once(server, 'close');
  });

  function guarded(options: { allowLoopback: boolean; resolve?: ResolveName }): Dispatcher {
    dispatcher = createGuardedDispatcher({ ...options, connectTimeoutMs: 60_000 });
    return dispatcher;
  }

  const refused = { cause: expect.any(AddressRefusedError) };

  it('is refused when its name has moved to a private address since the check [webhooks.https-only]', async () => {
    // given a name that is public at the first look-up, and loopback from the second on
    let lookups = 0;
    const resolve: ResolveName = async () => {
      lookups += 1;
      return lookups === 1 ? ['93.184.215.14'] : ['127.0.0.1'];
    };
    const url = new URL(`https://rebound.example.com:${port}/`);
    assertUrlAllowed(url, false);
    await assertNameAllowed(url, { allowLoopback: false, resolve });
    // when it is connected to
    const asking = fetch(url, { dispatcher: guarded({ allowLoopback: false, resolve }) });
    // then the address that would be used is the one that was looked at
    await expect(asking).rejects.toMatchObject(refused);
    expect([lookups, connections]).toEqual([2, 0]);
  });

  it('reaches loopback by the checked name when loopback is allowed', async () => {
    const resolve: ResolveName = async () => ['127.0.0.1'];
    const url = `https://rebound.example.com:${port}/`;
    // The server speaks no TLS; that it was reached is what counts.
    await expect(
      fetch(url, { dispatcher: guarded({ allowLoopback: true, resolve }) }),
    ).rejects.toThrow();
    expect(connections).toBe(1);
  });

  it('is refused for a literal address that was not checked', async () => {
    const url = `http://127.0.0.1:${port}/`;
    const asking = fetch(url, { dispatcher: guarded({ allowLoopback: false }) });
    await expect(asking).rejects.toMatchObject(refused);
    expect(connections).toBe(0);
    const response = await fetch(url, { dispatcher: guarded({ allowLoopback: true }) });
    expect(await response.text()).toBe('inside');
  });

  it('reaches localhost without a name server', async () => {
    const url = `http://localhost:${port}/`;
    const response = await fetch(url, { dispatcher: guarded({ allowLoopback: true }) });
    expect(await response.text()).toBe('inside');
  });

  it('is checked again for each redirect [webhooks.https-only]', async () => {
    const url = `http://127.0.0.1:${port}/redirect`;
    const asking = fetch(url, { dispatcher: guarded({ allowLoopback: true }) });
    await expect(asking).rejects.toMatchObject(refused);
    expect(connections).toBe(1);
  });

  describe('of Node’s own client', () => {
    let agents: GuardedAgents | undefined;

    afterEach(() => agents?.destroy());

    async function ask(
      url: string,
      options: { allowLoopback: boolean; resolve?: ResolveName },
    ): Promise<number | undefined> {
      agents = createGuardedAgents(options);
      const agent = agents.agentFor(new URL(url));
      const signal = AbortSignal.timeout(10_000);
      const answer = await post(url, { headers: {}, body: '', signal, agent });
      answer.destroy();
      return answer.statusCode;
    }

    it.each([
      ['to loopback', ['127.0.0.1'], false],
      ['inside', ['93.184.215.14', '10.0.0.1'], true],
    ])('is refused by a name that leads %s', async (_where, addresses, allowLoopback) => {
      const url = `https://rebound.example.com:${port}/`;
      const asking = ask(url, { allowLoopback, resolve: async () => addresses });
      await expect(asking).rejects.toThrow(AddressRefusedError);
      expect(connections).toBe(0);
    });

    it('is refused to a literal address, and follows no redirect', async () => {
      const url = `http://127.0.0.1:${port}/redirect`;
      await expect(ask(url, { allowLoopback: false })).rejects.toThrow(AddressRefusedError);
      expect(connections).toBe(0);
      expect(await ask(url, { allowLoopback: true })).toBe(302);
      expect(connections).toBe(1);
    });

    it('ends by its signal while the name servers are silent', async () => {
      const silent = createGuardedAgents({
        allowLoopback: false,
        resolve: () => new Promise(() => undefined),
      });
      const url = 'https://silent.example.com/';
      const signal = AbortSignal.timeout(50);
      const agent = silent.agentFor(new URL(url));
      const asking = post(url, { headers: {}, body: '', signal, agent });
      await expect(asking).rejects.toMatchObject({ name: 'TimeoutError' });
      silent.destroy();
    });
  });
});
