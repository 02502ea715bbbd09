import { useState } from 'react';
import type { ConsoleAccount } from '../../../api/console/contracts/index.ts';
import { useConfig } from '../../data/ledger.ts';
import { formatUsdc, readCredits } from '../../design/credits.tsx';
import { TextField } from '../../design/field.tsx';
import { formatCount } from '../../design/formats.ts';
import { Notice } from '../../design/notice.tsx';
import { PlanDialog } from '../../ledger/planDialog.tsx';
import type { Plan } from '../../ledger/transaction.ts';
import { SUGGESTED_LIMITS, useLimits } from './limitFields.tsx';
import { buyPlan } from './plans.ts';

/** How many credits, and the first time with which limits; one signature for both. */
export function BuyDialog({
  account,
  ...dialog
}: {
  readonly account: ConsoleAccount;
  readonly onPlan: (plan: Plan) => void;
  readonly onClose: () => void;
}) {
  const config = useConfig();
  const [text, setText] = useState('1,000');
  const needsSpender = account.spender?.is_service !== true;
  const { fields, limits } = useLimits(SUGGESTED_LIMITS);
  const { rules, wallet, is_open: isOpen } = account;
  const held = BigInt(account.available_credits) + BigInt(account.locked_credits);
  const room = BigInt(rules.account_credits_max) - held;
  const { credits, wrong } = readCredits(text, { name: 'Credits', most: room });
  const isWhole = credits !== undefined && (!needsSpender || limits !== undefined);
  return (
    <PlanDialog
      title="Buy credits"
      {...dialog}
      makePlan={
        config && isWhole && !rules.deposits_paused
          ? () =>
              buyPlan({
                wallet,
                programId: config.program_id,
                creditMint: rules.credit_mint,
                gateway: config.gateway,
                isOpen,
                limits: needsSpender ? limits : undefined,
                credits,
              })
          : undefined
      }
    >
      {rules.deposits_paused && (
        <Notice tone="warn">
          <p>Buying credits is paused by the authority. Nothing was charged.</p>
        </Notice>
      )}
      {room < 1n && (
        <Notice tone="warn">
          <p>
            The account holds all the {formatCount(rules.account_credits_max)} credits that it may,
            available and locked together.
          </p>
        </Notice>
      )}
      <TextField
        label="Credits"
        inputMode="numeric"
        value={text}
        error={wrong}
        hint={credits === undefined ? 'One credit is 0.01 USDC.' : `Costs ${formatUsdc(credits)}.`}
        onChange={(event) => setText(event.target.value)}
      />
      {needsSpender && (
        <>
          <p className="soft">
            This service locks credits for your requests. The program holds it to your limits.
          </p>
          {fields}
        </>
      )}
    </PlanDialog>
  );
}
