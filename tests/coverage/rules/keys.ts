import type { Rule } from '../rule.ts';

/** Authentication. */
export const keyRules: readonly Rule[] = [
  {
    id: 'keys.bearer',
    rule: 'Every endpoint wants a bearer key; without one the answer is 401 missing_api_key.',
    shown: [
      'journeys/openaiClient › is told that the key is missing',
      'api/openapi › wants a key for every endpoint',
      'api/webhooks › want a key first: %s %s',
    ],
  },
  {
    id: 'keys.unknown',
    rule: 'An unknown key is 401 invalid_api_key.',
    shown: ['journeys/openaiClient › throws AuthenticationError for a wrong key'],
  },
  {
    id: 'keys.suspended',
    rule: 'A suspended key is 403 key_suspended with the very next request.',
    shown: [
      'journeys/openaiClient › throws PermissionDeniedError with the next request after its key is suspended',
    ],
  },
  {
    id: 'keys.revoked-at-once',
    rule: 'A revoked key is 401 invalid_api_key with the very next request, on every instance.',
    shown: [
      'journeys/instances › refuse a key with the next request after it was revoked or replaced, both of them',
    ],
  },
  {
    id: 'keys.form',
    rule: 'A key is the prefix and 32 letters and digits, shown once and kept as a hash.',
    shown: ['api/keys › have the published form and are stored as a hash only'],
  },
  {
    id: 'keys.one-per-wallet',
    rule: 'A wallet has one live key; regenerating replaces it in one step.',
    shown: [
      'api/keys › exist once per wallet, even when two are made at the same time',
      'api/keys › are replaced in one step: the old one dies as the new one is born',
    ],
  },
  {
    id: 'keys.settings-tab',
    rule: 'Keys are made, revoked and regenerated in the web app, not through the API.',
    shown: { open: 'The web app is not built; the command line has tests for the same moves.' },
  },
];
