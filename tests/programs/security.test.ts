import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { architectures, artifactPath, checkout } from '../../programs/tools/artifacts.ts';

const BEGIN = '=======BEGIN SECURITY.TXT V1=======\0';
const END = '=======END SECURITY.TXT V1=======\0';

/** The fields that explorers read out of a program's binary: names and values, each ended by zero. */
function readSecurityText(binary: Buffer): Record<string, string> {
  const begin = binary.indexOf(BEGIN);
  const end = binary.indexOf(END);
  expect(begin).toBeGreaterThan(0);
  expect(binary.indexOf(BEGIN, begin + 1)).toBe(-1);
  const parts = binary.toString('utf8', begin + BEGIN.length, end).split('\0');
  expect(parts.pop()).toBe('');
  const fields: Record<string, string> = {};
  for (let at = 0; at < parts.length; at += 2) fields[parts[at] ?? ''] = parts[at + 1] ?? '';
  return fields;
}

describe.each(architectures)('the security.txt inside escrow-%s.so', (architecture) => {
  it('names a contact and a policy, but no person or host', () => {
    const fields = readSecurityText(readFileSync(artifactPath('escrow', architecture)));
    const manifest = readFileSync(join(checkout, 'programs/escrow/Cargo.toml'), 'utf8');
    expect(fields).toEqual({
      name: 'Credit-metered inference: escrow',
      project_url: 'README.md of the repository this program is built from',
      contacts: 'other:a private security advisory in that repository',
      policy: 'SECURITY.md of that repository',
      preferred_languages: 'en',
      source_code: 'programs/escrow of that repository',
      source_release: /^version = "(.+)"$/m.exec(manifest)?.[1],
    });
    const policy = readFileSync(join(checkout, 'SECURITY.md'), 'utf8');
    expect(policy).toMatch(/security advisories/);
  });
});
