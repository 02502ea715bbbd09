import { sealingKeySetting } from './sealing.ts';

/** The key that seals, and the one that only opens while the one gives way to the other. */
export const secretsKeySettings = {
  SVC_SECRETS_KEY: sealingKeySetting,
  SVC_SECRETS_KEY_PREVIOUS: sealingKeySetting.optional(),
};

/**
 * For settings with both keys: a previous key that is the present one again changes nothing, and
 * whoever set it meant something else.
 */
export function hasDistinctKeys(settings: {
  SVC_SECRETS_KEY: Buffer;
  SVC_SECRETS_KEY_PREVIOUS?: Buffer | undefined;
}): boolean {
  return !settings.SVC_SECRETS_KEY_PREVIOUS?.equals(settings.SVC_SECRETS_KEY);
}

/** What is told where `hasDistinctKeys` does not hold. */
export const SAME_KEYS = {
  path: ['SVC_SECRETS_KEY_PREVIOUS'],
  error: 'must be another key than SVC_SECRETS_KEY',
};
