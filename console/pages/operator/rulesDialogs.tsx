import { useState } from 'react';
import type { LedgerRules } from '../../../api/console/contracts/index.ts';
import type { Plan } from '../../../programs/client/wallet/plan.ts';
import { TransactionDialog } from '../../ledger/transactionDialog.tsx';
import { ModelDialog } from './modelDialog.tsx';
import { gatewayPlan, pausePlan, retirePlan } from './plans.ts';

export type Model = LedgerRules['models'][number];

/** A change of the ledger's rules that somebody asked for. */
export type Asked =
  | { readonly kind: 'pause'; readonly changes: Partial<LedgerRules> }
  | { readonly kind: 'gateway'; readonly isStopped: boolean }
  | { readonly kind: 'retire'; readonly model: Model }
  /** Without a model, of a new one. */
  | { readonly kind: 'model'; readonly model?: Model };

/** What has a change signed. It brings the ledger's code, so it is loaded on use. */
export default function RulesDialogs({
  asked,
  rules,
  programId,
  onClose,
}: {
  readonly asked: Asked;
  readonly rules: LedgerRules;
  readonly programId: string;
  readonly onClose: () => void;
}) {
  const [plan, setPlan] = useState<Plan | undefined>(() => planOf(asked, rules, programId));
  if (plan) return <TransactionDialog plan={plan} onClose={onClose} />;
  if (asked.kind !== 'model') return null;
  return (
    <ModelDialog
      model={asked.model}
      authority={rules.authority}
      programId={programId}
      onClose={onClose}
      onPlan={setPlan}
    />
  );
}

/** @returns undefined where more has to be asked first */
function planOf(asked: Asked, rules: LedgerRules, programId: string): Plan | undefined {
  if (asked.kind === 'pause') return pausePlan({ ...rules, ...asked.changes }, programId);
  if (asked.kind === 'retire') return retirePlan(asked.model, rules.authority, programId);
  if (asked.kind === 'gateway' && rules.gateway) {
    return gatewayPlan(rules.gateway, asked.isStopped, programId);
  }
  return undefined;
}
