import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { Keypair, PublicKey } from '@solana/web3.js';
import { createAddresses, PROGRAM_ID } from '../../programs/client/index.ts';
import { artifactPath, checkout } from '../../programs/tools/artifacts.ts';
import { drawProgramKey, requireUsableProgramId } from '../../programs/tools/programId.ts';
import { tryOut } from '../../programs/tools/tryOut.ts';
import { createRandom } from '../../testing/random.ts';

// That a build for another id runs there is shown by `npm run program:verify`, which has a compiler.

const script = (name: string): string => join(checkout, 'programs/tools', name);
const random = createRandom();
const draw = (): Keypair => Keypair.fromSeed(random.bytes(32));

/** One in 128 would do by chance. */
function drawUnusable(): Keypair {
  for (;;) {
    const key = draw();
    const [, bump] = PublicKey.findProgramAddressSync([Buffer.from('vault')], key.publicKey);
    if (bump !== 255) return key;
  }
}

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'program-id-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

describe(`a program id (seed ${random.seed})`, () => {
  it('is usable when each fixed address has the bump 255', () => {
    requireUsableProgramId(PROGRAM_ID.toBase58());
    const { publicKey } = drawProgramKey(draw);
    requireUsableProgramId(publicKey.toBase58());
    const seeds =
      'config treasury vault_authority vault treasury_vault stake_vault __event_authority';
    for (const seed of seeds.split(' ')) {
      expect(PublicKey.findProgramAddressSync([Buffer.from(seed)], publicKey)[1]).toBe(255);
    }
  });

  it('is refused with the seeds that do not fit', () => {
    const id = drawUnusable().publicKey.toBase58();
    expect(() => requireUsableProgramId(id)).toThrow(/ for (.*, )?vault(,|:)/);
    expect(() => requireUsableProgramId('not an address')).toThrow();
  });

  it('is searched for only a limited number of times', () => {
    const unusable = drawUnusable();
    expect(() => drawProgramKey(() => unusable)).toThrow(
      'No usable program id in 3000 draws: the source of randomness is broken',
    );
  });

  it('is compiled in: a build for one id does not run at another', async () => {
    const artifact = readFileSync(artifactPath('escrow', 'v3'));
    await tryOut(artifact, PROGRAM_ID);
    const { publicKey } = drawProgramKey(draw);
    expect(createAddresses(publicKey).config).not.toEqual(createAddresses().config);
    await expect(tryOut(artifact, publicKey)).rejects.toThrow('WrongAddress');
  });
});

describe('programs/tools/keypair.ts', () => {
  it('writes a usable key for its owner only, and prints the id', () => {
    const path = join(folder, 'key.json');
    const printed = execFileSync(process.execPath, [script('keypair.ts'), path], {
      encoding: 'utf8',
    });
    const secretKey = Uint8Array.from(JSON.parse(readFileSync(path, 'utf8')));
    const id = Keypair.fromSecretKey(secretKey).publicKey.toBase58();
    expect(printed).toBe(`${id}\n`);
    requireUsableProgramId(id);
    expect(statSync(path).mode & 0o777).toBe(0o600);
  });

  it('keeps an existing file and asks for another name', () => {
    const path = join(folder, 'key.json');
    writeFileSync(path, 'somebody’s key');
    const run = (...args: string[]) =>
      spawnSync(process.execPath, [script('keypair.ts'), ...args], { encoding: 'utf8' });
    expect(run(path)).toMatchObject({ status: 1, stdout: '' });
    expect(readFileSync(path, 'utf8')).toBe('somebody’s key');
    expect(run().stderr).toMatch('Name one file for the key');
  });
});

describe('npm run program:build for another id', () => {
  const build = (...args: string[]) =>
    spawnSync(process.execPath, [script('build.ts'), ...args], { encoding: 'utf8' });

  it('requires a folder and never overwrites the published artifacts', () => {
    const goTogether = /--out goes with --program-id or --sha512-syscall/;
    expect(build('--program-id', PROGRAM_ID.toBase58()).stderr).toMatch(goTogether);
    expect(build('--sha512-syscall').stderr).toMatch(goTogether);
    expect(build('--out', folder).stderr).toMatch(goTogether);
  });

  it('refuses an unusable id before it compiles anything', () => {
    const id = '11111111111111111111111111111112';
    expect(build('--program-id', id, '--out', folder).stderr).toMatch('another bump than 255');
  });
});
