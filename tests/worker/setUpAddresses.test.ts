import { describe, expect, it } from '@jest/globals';
import { choosePorts, requireEndpoint } from '../../worker/setup/addresses.ts';

const ENDPOINT = 'https://worker.example';
const UPSTREAM = 'http://127.0.0.1:11434/v1';

describe('the endpoint of a worker that is set up', () => {
  const resolve = async () => ['93.184.215.14'];

  it.each([
    ['a public name', ENDPOINT, ENDPOINT],
    ['a path', `${ENDPOINT}/one`, `${ENDPOINT}/one`],
    ['a slash at its end, which routes begin with', `${ENDPOINT}/`, ENDPOINT],
    ['a name that does not lead anywhere yet', 'https://new.worker.example', undefined],
  ])('may have %s', async (_what, text, expected = text) => {
    expect(await requireEndpoint(text, false, resolve)).toBe(expected);
  });

  it.each([
    ['a private address', 'https://10.0.0.1', 'must lead to a public address'],
    ['another service’s port', `${ENDPOINT}:22`, 'must use port 443, or one from 1024 up'],
    ['loopback', 'http://127.0.0.1:8090', 'must lead to a public address'],
    ['a query', `${ENDPOINT}?a=b`, 'must end with its path'],
    ['no URL', 'worker', 'must be an https URL'],
  ])('may not have %s, and the sentence has a remedy', async (_what, text, reason) => {
    await expect(requireEndpoint(text, false, resolve)).rejects.toMatchObject({
      name: 'SetupError',
      message: expect.stringMatching(
        new RegExp(`^--endpoint ${reason}\\. Gateways connect to it, so name the public address`),
      ),
    });
  });

  it('may be on loopback where the service allows that, and not elsewhere', async () => {
    expect(await requireEndpoint('http://127.0.0.1:8090', true)).toBe('http://127.0.0.1:8090');
    await expect(requireEndpoint('https://10.0.0.1', true)).rejects.toThrow('a public address');
    const inside = async () => ['192.168.1.7'];
    await expect(requireEndpoint(ENDPOINT, true, inside)).rejects.toThrow('a public address');
  });
});

describe('the ports of a worker that is set up', () => {
  const choose = (
    wanted: { port?: number; endpoint?: string; upstream?: string },
    former?: string,
  ) => {
    const { port, metricsPort } = choosePorts(
      { endpoint: ENDPOINT, upstream: UPSTREAM, ...wanted },
      former,
    );
    return [port, metricsPort];
  };
  const upstreamAt = (port: number) => `http://localhost:${port}/v1`;

  it.each([
    ['8090 and the next by default', {}, undefined, [8_090, 8_091]],
    ['what is asked for', { port: 9_000 }, '7000', [9_000, 9_001]],
    ['those of before', {}, '7000', [7_000, 7_001]],
    ['where an endpoint here leads', { endpoint: 'http://127.0.0.1:8123' }, '7', [8_123, 8_124]],
    ['others than the upstream’s', { upstream: upstreamAt(8_090) }, undefined, [8_092, 8_093]],
    ['no metrics at the upstream’s', { upstream: upstreamAt(8_091) }, undefined, [8_090, 8_092]],
    ['others than the new upstream’s', { upstream: upstreamAt(7_000) }, '7000', [8_090, 8_091]],
    ['the same beside one elsewhere', { upstream: 'http://gpu:8090' }, undefined, [8_090, 8_091]],
  ])('are %s', (_what, wanted, former, ports) => {
    expect(choose(wanted, former)).toEqual(ports);
  });

  it.each([
    ['that is asked for', { port: 8_100 }],
    ['of an endpoint on this machine', { endpoint: 'http://127.0.0.1:8100', port: 8_102 }],
  ])('are refused where the one %s is the upstream’s', (_what, wanted) => {
    expect(() => choose({ ...wanted, upstream: upstreamAt(8_100) })).toThrow(
      "Port 8100 is the upstream's. Choose another by --port",
    );
  });
});
