import { describe, expect, it } from '@jest/globals';
import { request } from 'undici';
import { describeConnectionFault } from '../../common/net/connectionFault.ts';
import { findFreePort } from '../../stack/port.ts';

const faultOf = (asking: Promise<unknown>) =>
  asking.then(() => 'it answered', describeConnectionFault);

describe('a connection that fails', () => {
  it.each(['127.0.0.1', 'localhost'])(
    'keeps its code, by fetch and by undici: %s',
    async (host) => {
      const url = `http://${host}:${await findFreePort()}`;
      const refused = 'nothing listens at its address (ECONNREFUSED)';
      expect(await faultOf(fetch(url))).toBe(refused);
      expect(await faultOf(request(url))).toBe(refused);
    },
  );

  it('says where its time was over', async () => {
    const signal = AbortSignal.timeout(1);
    await new Promise((resolve) => setTimeout(resolve, 10));
    expect(await faultOf(fetch('http://127.0.0.1:10000', { signal }))).toBe(
      'it did not answer in time (TimeoutError)',
    );
  });

  it.each<[string, unknown, string]>([
    ['of the system', { cause: { code: 'ETIMEDOUT' } }, 'it did not answer in time (ETIMEDOUT)'],
    ['that is not known here', { cause: { code: 'CERT_HAS_EXPIRED' } }, 'CERT_HAS_EXPIRED'],
    ['of a parser, without its quotation', new SyntaxError('a text'), 'SyntaxError'],
    ['that is no error', undefined, 'unknown'],
  ])('is named by the code %s', (_what, error, fault) => {
    expect(describeConnectionFault(error)).toBe(fault);
  });
});
