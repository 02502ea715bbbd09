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
