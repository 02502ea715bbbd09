// The packages that others install: each folder with its package.json, and where its code begins.
export const PACKAGES = {
  'svc-webhooks': { folder: 'webhooks', entries: ['webhooks/index'] },
  'svc-client': {
    folder: 'programs/client',
    entries: [
      'programs/client/index',
      'programs/client/sender/index',
      'programs/client/verify/index',
      // Whatever chooses between these two may choose the other.
      'programs/client/platform/crypto.browser',
      'programs/client/platform/publicKey.browser',
    ],
  },
  'svc-testing': { folder: 'testing/kit', entries: ['testing/kit/index'] },
  svc: { folder: 'cli', entries: ['cli/published'] },
};
