import { z } from 'zod';

// Addresses in the environment, each bound to the protocols that whoever connects to it can speak.
// A wrong one is refused with the variable's name at the start, not with a riddle later.

export const databaseUrlSetting = z.url({
  protocol: /^postgres(ql)?$/,
  error: 'must be a URL that begins with postgres:// (special characters of a password as %23)',
});
export const httpUrlSetting = z.url({
  protocol: /^https?$/,
  error: 'must be a URL that begins with http:// or https://',
});
export const websocketUrlSetting = z.url({
  protocol: /^wss?$/,
  error: 'must be a URL that begins with ws:// or wss://',
});

/**
 * An address that `fetch` is given, which refuses every request to one with a user or a password in
 * it.
 *
 * @param hint where they belong instead
 */
export function fetchedUrlSetting(hint = '') {
  return httpUrlSetting.refine((text) => {
    const url = URL.parse(text);
    return !url?.username && !url?.password;
  }, `must not carry credentials${hint}`);
}
