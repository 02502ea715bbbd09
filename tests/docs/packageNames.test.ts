import { describe, expect, it } from '@jest/globals';
import { PACKAGES, SCOPE } from '../../bin/packages.ts';
import { isProduct, listFiles, readSource } from '../tidy/sourceTree.ts';

/**
 * Their readers have a checkout, where `npx svc` runs its own code. Everywhere else it would run
 * what a stranger has published under that name.
 */
const IN_CHECKOUT = [
  /^(README|CONTRIBUTING)\.md$/,
  /^docs\/(backup|benchmarks|deploying|developing|operating|routing|scaling)\.md$/,
  /^docs\/token-counts\.md$/,
  /^examples\/language-model\//,
  /^(cli\/(operators|svc\.mjs)|stack|bin)\b/,
];
const REMOTE_RUN = /\bnpx (?:-y |--yes )?(?:svc|@[\w-]+\/[\w-]+)\b.*/g;
const INSTALL = /\bnpm (?:install|i|add)\b[^`\n]*/g;

const files = listFiles().filter((path) => path.endsWith('.md') || isProduct(path));
const elsewhere = files.filter((path) => !IN_CHECKOUT.some((pattern) => pattern.test(path)));

const matchesIn = (paths: readonly string[], pattern: RegExp) =>
  paths.flatMap((path) =>
    [...readSource(path).matchAll(pattern)].map(([text]) => `${path}: ${text}`),
  );

describe('the packages', () => {
  it('are never run by a name that may belong to somebody else', () => {
    expect(elsewhere.length).toBeGreaterThan(300);
    expect(matchesIn(elsewhere, REMOTE_RUN)).toEqual([]);
  });

  it('are installed by an address, and by a name nowhere', () => {
    const installs = matchesIn(files, INSTALL).filter((line) => line.includes(SCOPE));
    expect(installs).toEqual([]);
    expect(matchesIn(files, /npm install "\$\(curl -fsS [^)]+\/packages\/\w+\)"/g)).not.toEqual([]);
  });

  it('stand beside the Node that the commands need, and how to get it', () => {
    const { engines } = JSON.parse(readSource('cli/package.json')) as { engines: { node: string } };
    const oldest = `Node ${engines.node.replace('>=', '')} or newer`;
    const pages = files.filter((path) =>
      /\/packages\/cli\)"|\{PATH\}cli\)"/.test(readSource(path)),
    );
    expect(pages.length).toBeGreaterThan(7);
    const silent = pages.filter((path) => {
      const text = readSource(path);
      return !text.includes(oldest) || !text.includes('npm install node@24');
    });
    expect(silent).toEqual([]);
  });

  it('come with a version of web3.js where they need it', () => {
    const installs = matchesIn(
      files,
      /npm install (?:--save-dev )?"\$\(curl [^)]+[/}](?:client|testing)\)".*/g,
    );
    expect(installs.length).toBeGreaterThan(3);
    expect(installs.filter((line) => !line.includes(' @solana/web3.js@1.99'))).toEqual([]);
    // Plain, it is a version that npm refuses beside them.
    const warned = matchesIn(files, /plain (?:\\?`|<code>)npm install @solana\/web3\.js(?!@)/g);
    const plain = matchesIn(files, /npm install (?:.* )?@solana\/web3\.js(?!@)/g);
    expect(plain).toHaveLength(warned.length);
  });

  it('have the scope that one file states', () => {
    const names = Object.keys(PACKAGES).join('|');
    const pattern = new RegExp(`@svc[\\w-]*/(?:${names})\\b`, 'g');
    const all = [...files, ...listFiles().filter((path) => path.endsWith('package.json'))];
    const others = matchesIn(all, pattern).filter((line) => !line.includes(`: ${SCOPE}/`));
    expect(others).toEqual([]);
  });
});
