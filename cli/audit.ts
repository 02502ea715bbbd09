import { readFile } from 'node:fs/promises';
import { Command } from 'commander';
import { conclude, SENTENCES } from '../programs/client/verify/check.ts';
import { type Artifact, auditProgram } from '../programs/client/verify/program/auditProgram.ts';
import { gatherProgram } from '../programs/client/verify/program/gatherProgram.ts';
import { asCommandError } from './terminal/asCommandError.ts';
import { addLedgerOptions, type LedgerOptions, withLedgerNode } from './terminal/ledgerNode.ts';
import { renderChecks, renderJson } from './terminal/renderChecks.ts';

interface Options extends LedgerOptions {
  readonly artifact?: string;
  readonly json?: true;
}

const ARTIFACTS = new URL('../programs/escrow/artifacts/', import.meta.url);
/** The build for clusters; the other one is for tests. */
const ARTIFACT_NAME = 'escrow-v3.so';

/** `svc audit`: checks the whole program through a ledger's node alone. */
export function createAuditCommand(): Command {
  return addLedgerOptions(new Command('audit'))
    .description("check the program's accounts, vaults and code")
    .option('--artifact <file>', 'the binary that should be deployed; default: the committed one')
    .option('--json', 'print JSON')
    .action(run);
}

async function run(options: Options): Promise<void> {
  const artifact = await asCommandError(
    () => readArtifact(options.artifact),
    ({ message }) => `The artifact cannot be read: ${message}`,
  );
  const evidence = await withLedgerNode(options, ({ connection, addresses }) =>
    gatherProgram({ connection, addresses }),
  );
  const checks = auditProgram(evidence, artifact);
  const result = conclude(checks);
  if (result !== 'holds') process.exitCode = 1;
  const { addresses, slots, executable } = evidence;
  const { upgradeAuthority = null } = 'code' in executable ? executable : {};
  if (options.json) {
    console.log(
      renderJson({
        result,
        program: addresses.programId,
        slots,
        upgrade_authority: upgradeAuthority,
        checks,
      }),
    );
    return;
  }
  console.log(
    `${addresses.programId}, between slots ${slots.first} and ${slots.last}. ` +
      `Who can replace the program: ${upgradeAuthority ?? 'none'}.`,
  );
  console.log(renderChecks(checks, [], [SENTENCES[result]]));
}

async function readArtifact(file: string | undefined): Promise<Artifact> {
  if (file !== undefined) return { code: await readFile(file) };
  const hashes = await readFile(new URL('sha256.txt', ARTIFACTS), 'utf8');
  const line = hashes.split('\n').find((text) => text.endsWith(`  ${ARTIFACT_NAME}`));
  return {
    code: await readFile(new URL(ARTIFACT_NAME, ARTIFACTS)),
    recordedSha256: line?.split(' ')[0],
  };
}
