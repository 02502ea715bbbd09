import { useState } from 'react';
import type { ConsoleAccount } from '../../../api/console/contracts/index.ts';
import { useConfig } from '../../data/ledger.ts';
import { Button } from '../../design/button.tsx';
import { formatCount, formatUsdc, parseCredits } from '../../design/credits.tsx';
import { Dialog } from '../../design/dialog.tsx';
import { TextField } from '../../design/field.tsx';
import type { Plan } from '../../ledger/transaction.ts';
import { withdrawPlan } from './plans.ts';

export function WithdrawDialog({
  account,
  onPlan,
  onClose,
}: {
  readonly account: ConsoleAccount;
  readonly onPlan: (plan: Plan) => void;
  readonly onClose: () => void;
}) {
  const config = useConfig();
  const [text, setText] = useState(formatCount(account.available_credits));
  const credits = parseCredits(text);
  const isTooMuch = credits !== undefined && credits > BigInt(account.available_credits);
  const wrong =
    credits === undefined
      ? 'A whole number of credits, at least 1.'
      : isTooMuch && `You have ${formatCount(account.available_credits)} credits available.`;
  return (
    <Dialog
      title="Withdraw credits"
      onClose={onClose}
      foot={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button
            kind="primary"
            disabled={Boolean(wrong) || config === undefined}
            onClick={() => {
              if (config === undefined || credits === undefined) return;
              onPlan(
                withdrawPlan({
                  wallet: account.wallet,
                  programId: config.program_id,
                  creditMint: account.rules.credit_mint,
                  credits,
                }),
              );
            }}
          >
            See what it does
          </Button>
        </>
      }
    >
      <TextField
        label="Credits"
        inputMode="numeric"
        value={text}
        error={wrong || undefined}
        hint={credits === undefined ? undefined : `${formatUsdc(credits)} go to your wallet.`}
        onChange={(event) => setText(event.target.value)}
      />
      <p className="soft">Credits that are locked in jobs stay until the jobs end.</p>
    </Dialog>
  );
}
