import { sha256 } from '#platform';
import { bytesToHex } from '../../platform/bytes.ts';
import { type Check, type Finding, fails, holds, notCheckable } from '../check.ts';
import * as accounts from './accountRules.ts';
import { config } from './accountRules.ts';
import * as jobs from './jobRules.ts';
import { type Executable, type ProgramEvidence, type ProgramRule, readState } from './state.ts';
import * as vaults from './vaultRules.ts';
import { treasury } from './vaultRules.ts';

/** The program as it was built from its source. */
export interface Artifact {
  readonly code: Uint8Array;
  /** Where a hash of it was written down; undefined when the auditor names a file of their own. */
  readonly recordedSha256?: string | undefined;
}

/** What runs on the ledger is, byte for byte, what was built from the source. */
function judgeCode(executable: Executable | { reason: string }, artifact: Artifact): Finding {
  if ('reason' in executable) return notCheckable(executable.reason);
  const built = hexHash(artifact.code);
  const { recordedSha256 = built } = artifact;
  if (built !== recordedSha256) {
    return notCheckable(`The artifact here has sha256 ${built}; recorded is ${recordedSha256}.`);
  }
  const { length } = artifact.code;
  const isPaddedWithZeros = executable.code.subarray(length).every((byte) => byte === 0);
  const deployed = hexHash(
    isPaddedWithZeros ? executable.code.subarray(0, length) : executable.code,
  );
  return deployed === built
    ? holds(`sha256 ${built}, ${length} bytes.`)
    : fails(`Deployed is sha256 ${deployed}; built is ${built}.`);
}

function hexHash(bytes: Uint8Array): string {
  return bytesToHex(sha256(bytes));
}

const RULES: readonly ProgramRule[] = [
  ...[accounts.readable, accounts.addresses, config],
  ...[vaults.custody, vaults.vault, vaults.stakeVault, treasury],
  ...[jobs.locks, jobs.days, jobs.disputes, jobs.prices, jobs.deadlines],
];

/** Judges the whole program without any read: the same evidence gives the same checks. */
export function auditProgram(evidence: ProgramEvidence, artifact: Artifact): Check[] {
  const state = readState(evidence);
  return [
    { name: 'program.code', ...judgeCode(evidence.executable, artifact), evidence: [] },
    ...RULES.map((check) => check(state)),
  ];
}
