import { Resolver } from 'node:dns/promises';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import {
  type AddressInfo,
  createServer as createTcpServer,
  type Socket,
  type Server as TcpServer,
} from 'node:net';
import {
  afterAll,
  afterEach,
  beforeAll,
  beforeEach,
  describe,
  expect,
  it,
  jest,
} from '@jest/globals';
import { type Dispatcher, fetch } from 'undici';
import {
  AddressRefusedError,
  assertNameAllowed,
  assertUrlAllowed,
  createGuardedAgents,
  createGuardedDispatcher,
  type GuardedAgents,
  type ResolveName,
  requestWithin,
  resolveName,
} from '../../common/net/addressGuard.ts';
import { post } from '../../common/net/post.ts';

/** What a stranger might try: what it is, why it is refused, and in which forms. */
const ATTEMPTS = `
  plain HTTP, and another protocol | https | http://example.com/ ftp://example.com/
  credentials | no credentials | https://user:password@example.com/ https://a.example@127.0.0.1/
  loopback | public | https://127.0.0.1/ http://127.0.0.1:8080/ https://127.255.255.254/
  loopback as numbers | public | https://2130706433/ https://0177.0.0.1/ https://0x7f.1/
  loopback in other letters | public | https://127.0.0.1./ https://１２７.０.０.１/
  loopback in escapes | public | https://%31%32%37.0.0.1/
  localhost | public | https://localhost/ https://localhost./ https://hooks.localhost/
  private networks | public | https://10.0.0.1/ https://172.31.255.255/ https://192.168.1.1/
  link-local, where clouds keep credentials | public | https://169.254.169.254/
  carrier-grade NAT | public | https://100.64.0.1/
  nothing, and this network | public | https://0.0.0.0/ https://0.1.2.3/
  multicast and broadcast | public | https://224.0.0.1/ https://255.255.255.255/
  reserved and assigned | public | https://240.0.0.1/ https://192.0.0.1/ https://192.88.99.1/
  documentation | public | https://192.0.2.1/ https://198.51.100.1/ https://203.0.113.1/
  benchmarking | public | https://198.19.255.255/ https://[2001:2::1]/
  loopback in IPv6 | public | https://[::1]/ https://[0:0:0:0:0:0:0:1]/
  nothing, and multicast in IPv6 | public | https://[::]/ https://[ff02::1]/
  local in IPv6 | public | https://[fe80::1]/ https://[fd00::1]/ https://[fec0::1]/
  documentation in IPv6 | public | https://[2001:db8::1]/ https://[3fff::1]/
  discard and segment routing | public | https://[100::1]/ https://[5f00::1]/
  IPv6 that is not assigned | public | https://[4000::1]/
  IPv4-mapped | public | https://[::ffff:127.0.0.1]/ https://[::ffff:10.0.0.1]/
  IPv4-mapped, as numbers | public | https://[::ffff:a9fe:a9fe]/
  IPv4-compatible and translated | public | https://[::127.0.0.1]/ https://[::ffff:0:10.0.0.1]/
  NAT64 | public | https://[64:ff9b::10.0.0.1]/ https://[64:ff9b:1::10.0.0.1]/
  6to4 and Teredo | public | https://[2002:a00:1::1]/ https://[2001:0:a00:1::f5ff:fffe]/
  names of a local network | public | https://intranet/ https://printer.local/
  names of a home network | public | https://router.home.arpa/
  a cloud’s metadata by name | public | https://metadata.google.internal./
  mail and secure shell | port | https://example.com:25/ https://example.com:22/
  privileged ports | port | https://example.com:80/ https://example.com:1023/
`;
const REASONS: Readonly<Record<string, string>> = {
  https: 'must be an https URL',
  'no credentials': 'must not carry credentials',
  public: 'must lead to a public address',
  port: 'must use port 443, or one from 1024 up',
};
const attempts = ATTEMPTS.trim()
  .split('\n')
  .map((line) => line.trim().split(' | ') as [what: string, why: string, urls: string]);

describe('the address guard', () => {
  it.each(attempts)('refuses %s, for it takes %s', (_what, why, urls) => {
    for (const url of urls.split(' ')) {
      const refusal = () => assertUrlAllowed(new URL(url), false);
      expect(refusal).toThrow(AddressRefusedError);
      expect(refusal).toThrow(REASONS[why]);
    }
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
    'http://localhost.:3000/',
    'http://hooks.localhost/',
  ])('accepts %s only when loopback is allowed', (url) => {
    assertUrlAllowed(new URL(url), true);
    expect(() => assertUrlAllowed(new URL(url), false)).toThrow(AddressRefusedError);
  });

  it.each([
    'http://example.com/',
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

  it('is accepted for public addresses, none, or a loopback that is allowed', async () => {
    await check(async () => ['93.184.215.14', '2606:2800:21f:cb07:6820:80da:af6b:8b2c']);
    // Each connection is checked.
    await check(() => Promise.reject(new Error('queryA ENOTFOUND')));
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

  it('reaches loopback by any name where that is allowed, and else by none', async () => {
    const resolve: ResolveName = async () => ['127.0.0.1'];
    const url = `http://127.0.0.1:${port}/`;
    const asking = fetch(url, { dispatcher: guarded({ allowLoopback: false }) });
    await expect(asking).rejects.toMatchObject(refused);
    expect(connections).toBe(0);
    const open = guarded({ allowLoopback: true, resolve });
    for (const name of [url, `http://localhost:${port}/`]) {
      expect(await (await fetch(name, { dispatcher: open })).text()).toBe('inside');
    }
    const before = connections;
    // The server speaks no TLS. That it was reached is what counts.
    const byName = fetch(`https://rebound.example.com:${port}/`, { dispatcher: open });
    await expect(byName).rejects.toThrow();
    expect(connections).toBe(before + 1);
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

describe('exchanges with a server whose TLS handshake hangs', () => {
  /** Accepts connections, and never begins the TLS handshake. */
  let server: TcpServer;
  let dispatcher: Dispatcher;
  let url: string;
  const sockets = new Set<Socket>();

  beforeAll(async () => {
    server = createTcpServer((socket) => {
      sockets.add(socket);
      socket.on('error', () => undefined);
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    url = `https://127.0.0.1:${(server.address() as AddressInfo).port}/`;
    // Far longer than any test may take.
    dispatcher = createGuardedDispatcher({ allowLoopback: true, connectTimeoutMs: 60_000 });
  });

  afterAll(async () => {
    await dispatcher.destroy();
    for (const socket of sockets) socket.destroy();
    server.close();
  });

  it('each end by their own signal, however many there are', async () => {
    const exchanges = Array.from({ length: 16 }, (_, index) =>
      requestWithin(url, { dispatcher, signal: AbortSignal.timeout(50 + 10 * index) }),
    );
    const ends = await Promise.allSettled(exchanges);
    expect(ends.map(({ status }) => status)).toEqual(Array(16).fill('rejected'));
  });

  it('do not keep an exchange with another server waiting', async () => {
    const hanging = new AbortController();
    const stuck = requestWithin(url, { dispatcher, signal: hanging.signal }).catch(() => 'ended');
    const other = createTcpServer((socket) => {
      socket.end('HTTP/1.1 204 No Content\r\nconnection: close\r\n\r\n');
    }).listen(0, '127.0.0.1');
    await once(other, 'listening');
    const { port } = other.address() as AddressInfo;
    const { statusCode } = await requestWithin(`http://127.0.0.1:${port}/`, {
      dispatcher,
      signal: new AbortController().signal,
    });
    expect(statusCode).toBe(204);
    other.close();
    hanging.abort();
    expect(await stuck).toBe('ended');
  });
});

const NAME = 'hooks.example.com';
const failing = () => Promise.reject(new Error('ESERVFAIL'));

/** Name servers that give these addresses of a name, or fail. */
function answering(v4: () => Promise<string[]>, v6: () => Promise<string[]>): Resolver {
  const resolver = new Resolver();
  jest.spyOn(resolver, 'resolve4').mockImplementation(v4 as never);
  jest.spyOn(resolver, 'resolve6').mockImplementation(v6 as never);
  return resolver;
}

describe('the addresses of a host name', () => {
  afterEach(() => void jest.useRealTimers());

  const v4 = async () => ['93.184.215.14', '10.0.0.1'];
  const v6 = async () => ['2606:2800::1'];

  it('are those of both families, IPv4 first, or of the one that is there', async () => {
    const all = await resolveName(NAME, answering(v4, v6));
    expect(all).toEqual(['93.184.215.14', '10.0.0.1', '2606:2800::1']);
    expect(await resolveName(NAME, answering(failing, v6))).toEqual(['2606:2800::1']);
    await expect(resolveName(NAME, answering(failing, failing))).rejects.toThrow('ESERVFAIL');
  });

  it('time out after three seconds', async () => {
    jest.useFakeTimers();
    const cancelled = Promise.withResolvers<never>();
    const silent = answering(
      () => cancelled.promise,
      () => cancelled.promise,
    );
    jest
      .spyOn(silent, 'cancel')
      .mockImplementation(() => cancelled.reject(new Error('ECANCELLED')));
    const ended = expect(resolveName(NAME, silent)).rejects.toThrow('ECANCELLED');
    jest.advanceTimersByTime(2_999);
    expect(silent.cancel).not.toHaveBeenCalled();
    jest.advanceTimersByTime(1);
    await ended;
  });

  it('are fixed for localhost, with any name server', async () => {
    for (const name of ['localhost', 'hooks.localhost']) {
      expect(await resolveName(name, answering(v4, v6))).toEqual(['127.0.0.1', '::1']);
    }
  });
});
