import type { Check } from '../check.ts';
import type { ProgramEvidence } from './evidence.ts';
import type { ProgramRule } from './rule.ts';
import * as accounts from './rules/accounts.ts';
import { type Artifact, judgeCode } from './rules/code.ts';
import { config } from './rules/config.ts';
import * as jobs from './rules/jobs.ts';
import { treasury } from './rules/treasury.ts';
import * as vaults from './rules/vaults.ts';
import { readState } from './state.ts';

const RULES: readonly ProgramRule[] = [
  ...[accounts.readable, accounts.addresses, config],
  ...[vaults.custody, vaults.vault, vaults.stakeVault, treasury],
  ...[jobs.locks, jobs.disputes, jobs.prices, jobs.deadlines],
];

/** Judges the whole program. Asks nobody: the same evidence gives the same checks. */
export function auditProgram(evidence: ProgramEvidence, artifact: Artifact): Check[] {
  const state = readState(evidence);
  return [
    { name: 'program.code', ...judgeCode(evidence.executable, artifact), evidence: [] },
    ...RULES.map((check) => check(state)),
  ];
}
