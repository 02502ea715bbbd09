import { chmodSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { createKeygenCommand } from '../../cli/keygen.ts';
import { keyOption } from '../../cli/terminal/keyOption.ts';
import { parseKeypair } from '../../common/ledgerSettings.ts';

let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'keygen-'));
});

afterEach(() => {
  jest.restoreAllMocks();
  rmSync(folder, { recursive: true });
});

const keygen = (path: string) => createKeygenCommand().parseAsync([path], { from: 'user' });

describe('svc keygen', () => {
  it('makes a key that its owner alone can read, and prints the address', async () => {
    const print = jest.spyOn(console, 'log').mockReturnValue();
    const path = join(folder, 'key.json');
    await keygen(path);
    const { publicKey } = parseKeypair(path);
    expect(print.mock.calls).toEqual([[publicKey.toBase58()]]);
    expect(statSync(path).mode & 0o777).toBe(0o600);

    const read = () => keyOption('--signer')(path);
    expect(read().publicKey).toEqual(publicKey);
    for (const mode of ['0640', '0604', '0622']) {
      chmodSync(path, mode);
      expect(read).toThrow('--signer must be a file that only its owner can read: chmod 600.');
    }
  });

  it('never overwrites a file, and says why it made none', async () => {
    const print = jest.spyOn(console, 'log').mockReturnValue();
    const path = join(folder, 'key.json');
    await keygen(path);
    const kept = readFileSync(path);
    await expect(keygen(path)).rejects.toThrow('is there already, and a key is never overwritten');
    expect(readFileSync(path)).toEqual(kept);
    await expect(keygen(join(folder, 'no', 'key.json'))).rejects.toThrow(
      'lies in a folder that does not exist',
    );
    expect(print).toHaveBeenCalledTimes(1);
  });
});
