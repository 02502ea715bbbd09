import { createSocket, type Socket } from 'node:dgram';
import { Resolver } from 'node:dns/promises';
import { once } from 'node:events';
import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { resolveName } from '../../common/net/addressGuard.ts';

const A = 1;
const AAAA = 28;
const SERVER_FAILURE = 2;

let server: Socket;
let resolver: Resolver;
let asked: number;

beforeEach(async () => {
  asked = 0;
  server = createSocket('udp4').on('message', () => {
    asked += 1;
  });
  server.bind(0, '127.0.0.1');
  await once(server, 'listening');
  resolver = new Resolver();
  resolver.setServers([`127.0.0.1:${server.address().port}`]);
});

afterEach(async () => {
  jest.useRealTimers();
  server.close();
  await once(server, 'close');
});

/** Makes the name server answer: the addresses of each type, or a failure for types without any. */
function answerWith(records: Record<number, number[][]>): void {
  server.on('message', (query, { port, address }) => {
    const typeAt = query.indexOf(0, 12) + 1;
    const question = query.subarray(12, typeAt + 4);
    const found = records[query.readUInt16BE(typeAt)];
    const header = Buffer.alloc(12);
    query.copy(header, 0, 0, 2);
    header.writeUInt16BE(0x8180 | (found ? 0 : SERVER_FAILURE), 2);
    header.writeUInt16BE(1, 4);
    header.writeUInt16BE(found?.length ?? 0, 6);
    const answers = (found ?? []).map((bytes) =>
      // The question's name, its type and class, a minute to live, the address.
      Buffer.from([
        0xc0,
        12,
        ...query.subarray(typeAt, typeAt + 4),
        0,
        0,
        0,
        60,
        0,
        bytes.length,
        ...bytes,
      ]),
    );
    server.send(Buffer.concat([header, question, ...answers]), port, address);
  });
}

const v4 = [93, 184, 215, 14];
const v6 = [0x26, 6, 0x28, 0, ...Array(11).fill(0), 1];

describe('the addresses of a host name', () => {
  it('are all addresses from the name servers, IPv4 first', async () => {
    answerWith({ [A]: [v4, [10, 0, 0, 1]], [AAAA]: [v6] });
    expect(await resolveName('hooks.example.com', resolver)).toEqual([
      '93.184.215.14',
      '10.0.0.1',
      '2606:2800::1',
    ]);
  });

  it('are those of one family when the other lookup fails', async () => {
    answerWith({ [AAAA]: [v6] });
    expect(await resolveName('hooks.example.com', resolver)).toEqual(['2606:2800::1']);
  });

  it('are empty when the name servers fail', async () => {
    answerWith({});
    await expect(resolveName('hooks.example.com', resolver)).rejects.toThrow('ESERVFAIL');
  });

  it('time out after three seconds', async () => {
    jest.useFakeTimers({ doNotFake: ['nextTick', 'setImmediate', 'queueMicrotask'] });
    const message = once(server, 'message');
    const resolving = resolveName('hooks.example.com', resolver);
    const refused = expect(resolving).rejects.toThrow('ECANCELLED');
    await message;
    jest.advanceTimersByTime(3_000);
    await refused;
  });

  it('are fixed for localhost, with any name server', async () => {
    answerWith({ [A]: [v4], [AAAA]: [v6] });
    expect(await resolveName('localhost', resolver)).toEqual(['127.0.0.1', '::1']);
    expect(await resolveName('hooks.localhost', resolver)).toEqual(['127.0.0.1', '::1']);
    expect(asked).toBe(0);
  });
});
