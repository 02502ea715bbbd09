import { useState } from 'react';
import type { ConsoleAccount } from '../../../api/console/contracts/index.ts';
import { useConfig } from '../../data/ledger.ts';
import { formatUsdc, readCredits } from '../../design/credits.tsx';
import { TextField } from '../../design/field.tsx';
import { formatCount } from '../../design/formats.ts';
import { PlanDialog } from '../../ledger/planDialog.tsx';
import type { Plan } from '../../ledger/transaction.ts';
import { withdrawPlan } from './plans.ts';

export function WithdrawDialog({
  account,
  ...dialog
}: {
  readonly account: ConsoleAccount;
  readonly onPlan: (plan: Plan) => void;
  readonly onClose: () => void;
}) {
  const config = useConfig();
  const { wallet, rules, available_credits: available } = account;
  const [text, setText] = useState(formatCount(available));
  const { credits, wrong } = readCredits(text, { name: 'Credits', most: BigInt(available) });
  return (
    <PlanDialog
      title="Withdraw credits"
      {...dialog}
      makePlan={
        config && credits !== undefined
          ? () =>
              withdrawPlan({
                wallet,
                programId: config.program_id,
                creditMint: rules.credit_mint,
                credits,
              })
          : undefined
      }
    >
      <TextField
        label="Credits"
        inputMode="numeric"
        value={text}
        error={wrong}
        hint={
          credits === undefined
            ? `You have ${formatCount(available)} available.`
            : `${formatUsdc(credits)} go to your wallet.`
        }
        onChange={(event) => setText(event.target.value)}
      />
      <p className="soft">Credits that are locked in jobs stay until the jobs end.</p>
    </PlanDialog>
  );
}
