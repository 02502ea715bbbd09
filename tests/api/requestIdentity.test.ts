import { describe, expect, it } from '@jest/globals';
import { createRequestIdentification } from '../../api/jobs/requestIdentity.ts';

const identify = createRequestIdentification(Buffer.alloc(32, 1), Buffer.alloc(32, 2));
const request = {
  wallet: 'a wallet',
  apiKey: 'svc_live_x',
  rawBody: Buffer.from('{"model":"one"}'),
  idempotencyKey: undefined as string | undefined,
  retryCount: undefined as string | undefined,
};

/** The key that seals the copy of the answer. */
const sealingKey = (changes: Partial<typeof request> = {}): string =>
  Buffer.from(identify({ ...request, ...changes }).copyKey()).toString('hex');

describe('the key that seals an answer for repeats', () => {
  it('differs between bodies, API keys and Idempotency-Keys', () => {
    const keys = [
      sealingKey(),
      sealingKey({ rawBody: Buffer.from('{"model":"two"}') }),
      sealingKey({ apiKey: 'svc_live_y' }),
      sealingKey({ idempotencyKey: 'a' }),
      sealingKey({ idempotencyKey: 'b' }),
      sealingKey({ idempotencyKey: 'a', apiKey: 'svc_live_y' }),
    ];
    expect(new Set(keys).size).toBe(keys.length);
  });
});

describe('a request', () => {
  it.each([
    [{ idempotencyKey: 'a' }, true, 86_400],
    [{ retryCount: '1' }, true, 600],
    [{ retryCount: '0' }, false, 600],
    [{}, false, 600],
  ])('with %j may be a repeat: %s, for %i s', (changes, mayRepeat, lifetimeSeconds) => {
    const identity = identify({ ...request, ...changes });
    expect(identity).toMatchObject({ mayRepeat, lifetimeSeconds });
    // Under the previous secret, too, while the secret changes.
    expect(identity.previousName !== undefined).toBe(mayRepeat);
  });
});
