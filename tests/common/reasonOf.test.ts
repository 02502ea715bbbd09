import { once } from 'node:events';
import { connect } from 'node:net';
import { describe, expect, it } from '@jest/globals';
import { reasonOf } from '../../common/reasonOf.ts';

describe('the reason of an error', () => {
  it('is its message', () => {
    expect(reasonOf(new TypeError('no such key'))).toBe('no such key');
  });

  it('is the thrown value when that is not an error', () => {
    expect(reasonOf('nothing')).toBe('nothing');
    expect(reasonOf(undefined)).toBe('undefined');
  });

  it('names each address of a host that cannot be reached', async () => {
    const addresses = [
      { address: '127.0.0.1', family: 4 },
      { address: '127.0.0.2', family: 4 },
    ];
    const socket = connect({
      host: 'several',
      port: 9,
      autoSelectFamily: true,
      lookup: (_name, _options, done) => done(null, addresses),
    });
    const [error] = await once(socket, 'close').catch((failed) => [failed]);
    expect(error.message).toBe('');
    expect(reasonOf(error)).toBe(
      'connect ECONNREFUSED 127.0.0.1:9; connect ECONNREFUSED 127.0.0.2:9',
    );
  });
});
