/** Content policies: each allows only what its document needs. */

/** For both documents: only files of our own, nothing inline, no evaluated text. */
const COMMON = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "font-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
];

/**
 * Wallets bring their pictures as data.
 *
 * @param urls what the app calls besides our API: the ledger's node and the development wallet
 */
export function appPolicy(urls: readonly (string | null)[]): string {
  const origins = urls.flatMap((url) => (url === null ? [] : new URL(url).origin));
  return [
    ...COMMON,
    "img-src 'self' data:",
    ["connect-src 'self'", ...new Set(origins)].join(' '),
  ].join('; ');
}

/**
 * Verify asks any node that a visitor names. Its document has an origin of its own without a session.
 * So it may connect everywhere, and reaches our API like any stranger.
 */
export function verifyPolicy(): string {
  return [...COMMON, "img-src 'self'", 'connect-src http: https:', 'sandbox allow-scripts'].join(
    '; ',
  );
}
