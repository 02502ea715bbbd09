import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { type CodeBlock, checkout } from '../documents.ts';
import type { Fault } from './fault.ts';

/** What the text around a block has introduced, in any of them. */
const GIVEN = `
import type { IncomingHttpHeaders } from 'node:http';
import type { AnchorProvider } from '@coral-xyz/anchor';
import type { expect as jestExpect } from '@jest/globals';
import type { Connection, PublicKey } from '@solana/web3.js';
import type { Escrow, TestJob } from '${join(checkout, 'testing/kit/index.ts')}';

declare global {
  const rawBody: Buffer, headers: IncomingHttpHeaders, secret: string;
  const connection: Connection, provider: AnchorProvider, signature: string;
  const wallet: PublicKey, buyer: PublicKey, buyerTokenAccount: PublicKey;
  const escrow: Escrow, job: TestJob, expect: typeof jestExpect;
}
`;

/** Type-checks blocks in one program, each as a module of a project that has all packages. */
export async function checkTypes(blocks: readonly CodeBlock[]): Promise<Fault[]> {
  const folder = mkdtempSync(join(tmpdir(), 'documents-'));
  try {
    symlinkSync(join(checkout, 'node_modules'), join(folder, 'node_modules'));
    writeFileSync(join(folder, 'package.json'), '{ "type": "module" }');
    writeFileSync(join(folder, 'given.ts'), GIVEN);
    for (const [index, { text }] of blocks.entries()) {
      writeFileSync(join(folder, `block${index}.ts`), `${text}export {};\n`);
    }
    const project = {
      extends: join(checkout, 'tsconfig.json'),
      compilerOptions: { noUnusedLocals: false, noUnusedParameters: false },
      include: ['*.ts'],
    };
    writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(project));
    return faultsIn(await compile(folder), blocks);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** @returns what the compiler prints */
async function compile(folder: string): Promise<string> {
  const compiler = join(checkout, 'node_modules/.bin/tsc');
  const options = { cwd: folder };
  return promisify(execFile)(compiler, ['-p', '.', '--pretty', 'false'], options).then(
    () => '',
    ({ stdout, message }: Error & { stdout?: string }) => stdout || message,
  );
}

/** @throws Error with what is no error of a block: then none was checked */
function faultsIn(printed: string, blocks: readonly CodeBlock[]): Fault[] {
  const faults: Fault[] = [];
  for (const line of printed.split('\n').filter((text) => /^\S/.test(text))) {
    const [, index, at, problem = ''] = /^block(\d+)\.ts\((\d+),\d+\): (.*)/.exec(line) ?? [];
    const block = blocks[Number(index)];
    if (!block) throw new Error(printed);
    faults.push({ block: { ...block, line: block.line + Number(at) - 1 }, problem });
  }
  return faults;
}
