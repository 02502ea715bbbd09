import { useState } from 'react';
import type { ConsoleAccount } from '../../../api/console/contracts/index.ts';
import { useConfig } from '../../data/ledger.ts';
import type { Plan } from '../../ledger/transaction.ts';
import { TransactionDialog } from '../../ledger/transactionDialog.tsx';
import { BuyDialog } from './buyDialog.tsx';
import { LimitsDialog } from './limitsDialog.tsx';
import { stopSpenderPlan } from './plans.ts';
import { WithdrawDialog } from './withdrawDialog.tsx';

const FORMS = { buy: BuyDialog, withdraw: WithdrawDialog, limits: LimitsDialog };

export type Asked = keyof typeof FORMS | 'stop';

/** What asks for an amount and has it signed. It brings the ledger's code, so it is loaded on use. */
export default function CreditsDialogs({
  asked,
  account,
  onClose,
}: {
  readonly asked: Asked;
  readonly account: ConsoleAccount;
  readonly onClose: () => void;
}) {
  const programId = useConfig()?.program_id ?? '';
  const [plan, setPlan] = useState<Plan | undefined>(() =>
    asked === 'stop' ? stopSpenderPlan(account.wallet, programId) : undefined,
  );
  if (plan) return <TransactionDialog plan={plan} onClose={onClose} />;
  if (asked === 'stop') return null;
  const Form = FORMS[asked];
  return <Form account={account} onPlan={setPlan} onClose={onClose} />;
}
