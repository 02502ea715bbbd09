import { randomBytes } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import { createSealing, SealingError, sealingKeySetting } from '../../common/sealing.ts';
import { NEIGHBOURING_STEPS, secretsKeySteps } from '../../testing/service/gatedService.ts';

const sealing = createSealing(randomBytes(32));

describe('a sealed text', () => {
  it.each(['whsec_c2VjcmV0', '', 'ünïcödé 🔑'])('opens to the original text: %j', (text) => {
    expect(sealing.open(sealing.seal(text))).toBe(text);
  });

  it('shows nothing of the text and differs each time', () => {
    const text = 'a secret that is long enough';
    const [first, second] = [sealing.seal(text), sealing.seal(text)];
    expect(first.includes(text)).toBe(false);
    expect(first.equals(second)).toBe(false);
  });

  it('does not open after any of its bytes changed', () => {
    const sealed = sealing.seal('a secret');
    for (const index of sealed.keys()) {
      const altered = Buffer.from(sealed);
      altered.writeUInt8(altered.readUInt8(index) ^ 1, index);
      expect(() => sealing.open(altered)).toThrow(SealingError);
    }
  });

  it('does not open after it was truncated', () => {
    const sealed = sealing.seal('a secret');
    for (const length of sealed.keys()) {
      expect(() => sealing.open(sealed.subarray(0, length))).toThrow(SealingError);
    }
  });

  it('does not open with another key', () => {
    expect(() => createSealing(randomBytes(32)).open(sealing.seal('a secret'))).toThrow(
      'sealed under another key, or altered since',
    );
  });
});

describe('during a change of the sealing key', () => {
  const [first, second, third, last] = secretsKeySteps(randomBytes(32), randomBytes(32));
  const steps = [
    createSealing(...first),
    createSealing(...second),
    createSealing(...third),
    createSealing(...last),
  ] as const;
  /** As it is stored at the last step: resealed by a process of the one before. */
  const resealed = (sealed: Buffer) => steps[2].reseal(sealed) ?? sealed;

  it.each(NEIGHBOURING_STEPS)(
    'a secret that step %i seals is opened at step %i',
    (sealedAt, openedAt) => {
      const text = 'a secret';
      expect(steps[openedAt].open(steps[sealedAt].seal(text))).toBe(text);
    },
  );

  it('no step can be skipped', () => {
    expect(() => steps[0].open(steps[2].seal('a secret'))).toThrow(SealingError);
    expect(() => steps[3].open(steps[1].seal('a secret'))).toThrow(SealingError);
  });

  it('a secret from an earlier step opens at the last one once it is resealed', () => {
    for (const { seal } of steps.slice(0, 3)) {
      expect(steps[3].open(resealed(seal('a secret')))).toBe('a secret');
    }
  });

  it('a secret under the new key is not resealed', () => {
    expect(steps[2].reseal(steps[2].seal('a secret'))).toBeUndefined();
  });

  it('a secret that neither key opens is not resealed', () => {
    expect(() => steps[2].reseal(sealing.seal('a secret'))).toThrow(SealingError);
    const altered = steps[1].seal('a secret');
    altered.writeUInt8(altered.readUInt8(30) ^ 1, 30);
    expect(() => steps[2].reseal(altered)).toThrow(SealingError);
  });
});

describe('the sealing key setting', () => {
  it('is base64 of 32 bytes', () => {
    const key = randomBytes(32);
    expect(sealingKeySetting.parse(key.toString('base64'))).toEqual(key);
  });

  it.each([
    ['too short', randomBytes(31).toString('base64')],
    ['too long', randomBytes(33).toString('base64')],
    ['hexadecimal', randomBytes(32).toString('hex')],
    ['not base64', 'a passphrase that is easy to remember!!'],
    ['empty', ''],
  ])('is refused without being quoted when it is %s', (_what, text) => {
    const { success, error } = sealingKeySetting.safeParse(text);
    expect(success).toBe(false);
    if (text) expect(error?.message).not.toContain(text);
  });
});
