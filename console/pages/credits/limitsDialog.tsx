import type { ConsoleAccount } from '../../../api/console/contracts/index.ts';
import { useConfig } from '../../data/ledger.ts';
import { Button } from '../../design/button.tsx';
import { Dialog } from '../../design/dialog.tsx';
import type { Plan } from '../../ledger/transaction.ts';
import { SUGGESTED_LIMITS, useLimits } from './limitFields.tsx';
import { limitsPlan } from './plans.ts';

export function LimitsDialog({
  account,
  onPlan,
  onClose,
}: {
  readonly account: ConsoleAccount;
  readonly onPlan: (plan: Plan) => void;
  readonly onClose: () => void;
}) {
  const config = useConfig();
  const { spender } = account;
  const { fields, limits } = useLimits({
    perJob: spender?.limit_per_job_credits ?? SUGGESTED_LIMITS.perJob,
    perDay: spender?.limit_per_day_credits ?? SUGGESTED_LIMITS.perDay,
  });
  return (
    <Dialog
      title="Change the limits"
      onClose={onClose}
      foot={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button
            kind="primary"
            disabled={limits === undefined || config === undefined}
            onClick={() => {
              if (limits === undefined || config === undefined) return;
              onPlan(
                limitsPlan({
                  wallet: account.wallet,
                  programId: config.program_id,
                  gateway: config.gateway,
                  isSpender: spender?.is_service === true,
                  limits,
                }),
              );
            }}
          >
            See what it does
          </Button>
        </>
      }
    >
      {fields}
    </Dialog>
  );
}
