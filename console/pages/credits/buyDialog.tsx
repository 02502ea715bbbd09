import { useState } from 'react';
import type { ConsoleAccount } from '../../../api/console/contracts/index.ts';
import { useConfig } from '../../data/ledger.ts';
import { Button } from '../../design/button.tsx';
import { formatCount, formatUsdc, parseCredits } from '../../design/credits.tsx';
import { Dialog } from '../../design/dialog.tsx';
import { TextField } from '../../design/field.tsx';
import { Notice } from '../../design/notice.tsx';
import type { Plan } from '../../ledger/transaction.ts';
import { SUGGESTED_LIMITS, useLimits } from './limitFields.tsx';
import { buyPlan } from './plans.ts';

interface DialogProps {
  readonly account: ConsoleAccount;
  readonly onPlan: (plan: Plan) => void;
  readonly onClose: () => void;
}

/** Why so many credits cannot be bought; undefined where nothing stands against it. */
function objection(credits: bigint | undefined, account: ConsoleAccount): string | undefined {
  if (credits === undefined) return 'A whole number of credits, at least 1.';
  const held = BigInt(account.available_credits) + BigInt(account.locked_credits);
  const room = BigInt(account.rules.account_credits_max) - held;
  return credits <= room
    ? undefined
    : `An account may hold ${formatCount(account.rules.account_credits_max)} credits: ${formatCount(room)} more fit.`;
}

/** How many credits, and the first time with which limits; one signature for both. */
export function BuyDialog({ account, onPlan, onClose }: DialogProps) {
  const config = useConfig();
  const [text, setText] = useState('1,000');
  const needsSpender = account.spender?.is_service !== true;
  const { fields, limits } = useLimits(SUGGESTED_LIMITS);
  const credits = parseCredits(text);
  const wrong = objection(credits, account);
  const { deposits_paused: isPaused } = account.rules;
  const canGoOn =
    wrong === undefined && !isPaused && config !== undefined && (!needsSpender || limits);
  return (
    <Dialog
      title="Buy credits"
      onClose={onClose}
      foot={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button
            kind="primary"
            disabled={!canGoOn}
            onClick={() => {
              if (config === undefined || credits === undefined) return;
              onPlan(
                buyPlan({
                  wallet: account.wallet,
                  programId: config.program_id,
                  creditMint: account.rules.credit_mint,
                  gateway: config.gateway,
                  isOpen: account.is_open,
                  limits: needsSpender ? limits : undefined,
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
      {isPaused && (
        <Notice tone="warn">
          <p>Buying credits is paused by the authority. Nothing was charged.</p>
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
    </Dialog>
  );
}
