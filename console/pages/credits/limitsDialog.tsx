import type { ConsoleAccount } from '../../../api/console/contracts/index.ts';
import { useConfig } from '../../data/ledger.ts';
import { PlanDialog } from '../../ledger/planDialog.tsx';
import type { Plan } from '../../ledger/transaction.ts';
import { SUGGESTED_LIMITS, useLimits } from './limitFields.tsx';
import { limitsPlan } from './plans.ts';

export function LimitsDialog({
  account: { wallet, spender },
  ...dialog
}: {
  readonly account: ConsoleAccount;
  readonly onPlan: (plan: Plan) => void;
  readonly onClose: () => void;
}) {
  const config = useConfig();
  const { fields, limits } = useLimits(
    spender
      ? { perJob: spender.limit_per_job_credits, perDay: spender.limit_per_day_credits }
      : SUGGESTED_LIMITS,
  );
  return (
    <PlanDialog
      title="Change the limits"
      {...dialog}
      makePlan={
        config && limits
          ? () =>
              limitsPlan({
                wallet,
                programId: config.program_id,
                gateway: config.gateway,
                isSpender: spender?.is_service === true,
                limits,
              })
          : undefined
      }
    >
      {fields}
    </PlanDialog>
  );
}
