import { randomBytes } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import { base58 } from '@scure/base';
import { Keypair } from '@solana/web3.js';
import { loadConfig as loadApiConfig } from '../../api/config.ts';
import { createSealing, SealingError, sealingKeySetting } from '../../common/sealing.ts';
import { loadConfig as loadIndexerConfig } from '../../indexer/config.ts';

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

  it('does not open once a byte of it changed or is missing', () => {
    const sealed = sealing.seal('a secret');
    for (const index of sealed.keys()) {
      const altered = Buffer.from(sealed);
      altered.writeUInt8(altered.readUInt8(index) ^ 1, index);
      for (const wrong of [altered, sealed.subarray(0, index)]) {
        expect(() => sealing.open(wrong)).toThrow(SealingError);
      }
    }
  });

  it('does not open with another key', () => {
    expect(() => createSealing(randomBytes(32)).open(sealing.seal('a secret'))).toThrow(
      'sealed under another key, or altered since',
    );
  });
});

describe('during a change of the sealing key', () => {
  const [before, after] = [randomBytes(32), randomBytes(32)];
  // The key that seals, then the one that only opens. docs/backup.md has the order.
  const steps = [
    createSealing(before),
    createSealing(before, after),
    createSealing(after, before),
    createSealing(after),
  ] as const;
  /** As it is stored at the last step: resealed by a process of the one before. */
  const resealed = (sealed: Buffer) => steps[2].reseal(sealed) ?? sealed;

  it.each([
    [0, 1],
    [1, 0],
    [1, 2],
    [2, 1],
    [2, 3],
    [3, 2],
  ] as const)('a secret that step %i seals is opened at step %i', (sealedAt, openedAt) => {
    const text = 'a secret';
    expect(steps[openedAt].open(steps[sealedAt].seal(text))).toBe(text);
  });

  it('no step can be skipped', () => {
    expect(() => steps[0].open(steps[2].seal('a secret'))).toThrow(SealingError);
    expect(() => steps[3].open(steps[1].seal('a secret'))).toThrow(SealingError);
  });

  it('a secret from an earlier step opens at the last one once it is resealed', () => {
    for (const { seal } of steps.slice(0, 3)) {
      expect(steps[3].open(resealed(seal('a secret')))).toBe('a secret');
    }
  });

  it('what is under the new key, or under neither, is not resealed', () => {
    expect(steps[2].reseal(steps[2].seal('a secret'))).toBeUndefined();
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

const secretKey = () => base58.encode(Keypair.generate().secretKey);
const [PRESENT, PREVIOUS] = [randomBytes(32), randomBytes(32)];
const SHARED = {
  DATABASE_URL: 'postgres://127.0.0.1/svc',
  SOLANA_RPC_URL: 'http://127.0.0.1:8899',
  SVC_SECRETS_KEY: PRESENT.toString('base64'),
};
const loadApi = (settings: NodeJS.ProcessEnv) =>
  loadApiConfig({
    ...SHARED,
    SVC_SIGNER_KEY: secretKey(),
    SVC_GATEWAY: Keypair.generate().publicKey.toBase58(),
    ...settings,
  });
const loadIndexer = (settings: NodeJS.ProcessEnv) =>
  loadIndexerConfig({ ...SHARED, SVC_CRANK_KEY: secretKey(), ...settings });

describe.each([
  ['API', loadApi],
  ['indexer', loadIndexer],
] as const)('SVC_SECRETS_KEY_PREVIOUS of the %s', (_process, load) => {
  it('may be left out, be empty, or be a second key', () => {
    const second = { SVC_SECRETS_KEY_PREVIOUS: PREVIOUS.toString('base64') };
    expect(load(second)).toMatchObject({
      SVC_SECRETS_KEY: PRESENT,
      SVC_SECRETS_KEY_PREVIOUS: PREVIOUS,
    });
    for (const without of [{}, { SVC_SECRETS_KEY_PREVIOUS: '' }]) {
      expect(load(without)).not.toHaveProperty('SVC_SECRETS_KEY_PREVIOUS');
    }
  });

  it('is refused without its value when it is SVC_SECRETS_KEY again', () => {
    const text = PRESENT.toString('base64');
    const start = () => load({ SVC_SECRETS_KEY_PREVIOUS: text });
    expect(start).toThrow(/^SVC_SECRETS_KEY_PREVIOUS: /);
    expect(start).not.toThrow(text);
  });
});
