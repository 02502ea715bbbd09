import { fileURLToPath } from 'node:url';

/**
 * What the packages are published under, chosen here: a test holds every other mention against it.
 * Neither is registered yet, so a page gives an address beside each name.
 */
export const SCOPE = '@svc-inference';
export const REPOSITORY = 'https://github.com/svc-inference/svc';

/**
 * The packages that others install: the folder of each one's package.json, and where its code
 * begins. A package's own `imports` choose between Node and browsers; the others are for Node alone.
 */
export const PACKAGES = {
  webhooks: { folder: 'webhooks', entries: ['webhooks/index'] },
  client: {
    folder: 'programs/client',
    entries: [
      'programs/client/index',
      'programs/client/sender/index',
      'programs/client/verify/index',
      'programs/client/wallet/index',
    ],
  },
  testing: { folder: 'testing/kit', entries: ['testing/kit/index'] },
  cli: { folder: 'cli', entries: ['cli/packageMain'] },
};

/** Where the built packages are, each in a folder of its name, as `npm publish` takes it. */
export const BUILT = fileURLToPath(new URL('../dist/packages', import.meta.url));

/** The tarballs of these folders, which the API serves, and `index.json`, which lists them. */
export const TARBALLS = `${BUILT}/tarballs`;
