import { PublicKey } from '@svc-inference/client/wallet';
import { type ReactNode, useState } from 'react';
import type { ConsoleAccount } from '../../../api/contracts/index.ts';
import {
  buyPlan,
  type CreditState,
  limitsPlan,
  proposedLimits,
  type Spender,
  stopPlan,
  withdrawPlan,
} from '../../../programs/client/wallet/creditPlans.ts';
import type { Plan } from '../../../programs/client/wallet/plan.ts';
import { useConfig } from '../../data/ledger.ts';
import { TextField } from '../../design/field.tsx';
import { formatCount } from '../../design/formats.ts';
import { Notice } from '../../design/notice.tsx';
import { formatUsdc, readCredits } from '../../design/values.tsx';
import { PlanDialog } from '../../ledger/planDialog.tsx';
import { TransactionDialog } from '../../ledger/transactionDialog.tsx';
import { useLimits } from './limitFields.tsx';

const FORMS = { buy: BuyDialog, withdraw: WithdrawDialog, limits: LimitsDialog };

export type Asked = keyof typeof FORMS | 'stop';

interface FormProps {
  readonly account: ConsoleAccount;
  /** What the account is on the ledger, for plans. */
  readonly state: CreditState;
  readonly service: Spender;
  readonly onPlan: (plan: Plan) => void;
  readonly onClose: () => void;
}

/** What asks for an amount and has it signed. It brings the ledger's code, so it is loaded on use. */
export default function CreditsDialogs(props: {
  asked: Asked;
  account: ConsoleAccount;
  onClose: () => void;
}) {
  const { asked, account, onClose } = props;
  const config = useConfig();
  const state = config && creditStateOf(account, config.program_id);
  const [plan, setPlan] = useState(() => (state && asked === 'stop' ? stopPlan(state) : undefined));
  if (plan) return <TransactionDialog plan={plan} onClose={onClose} />;
  if (asked === 'stop' || !state) return null;
  const Form = FORMS[asked];
  const service = { address: new PublicKey(config.gateway), name: 'This service' };
  return (
    <Form account={account} state={state} service={service} onPlan={setPlan} onClose={onClose} />
  );
}

function creditStateOf(account: ConsoleAccount, programId: string): CreditState {
  const { wallet, rules, is_open, available_credits, spender } = account;
  return {
    programId: new PublicKey(programId),
    wallet: new PublicKey(wallet),
    creditMint: new PublicKey(rules.credit_mint),
    account: is_open
      ? {
          availableCredits: BigInt(available_credits),
          spender: spender ? new PublicKey(spender.address) : PublicKey.default,
        }
      : null,
  };
}

const FIRST_PURCHASE_CREDITS = 1_000n;

/** An amount to enter; its credits are undefined while it is wrong, as its field says. */
function useAmount(proposed: number | bigint, most: bigint) {
  const [text, setText] = useState(() => formatCount(proposed));
  const { credits, wrong } = readCredits(text, { name: 'Credits', most });
  const field = (hint: string) => (
    <TextField
      label="Credits"
      inputMode="numeric"
      value={text}
      error={wrong}
      hint={hint}
      onChange={(event) => setText(event.target.value)}
    />
  );
  return { credits, field };
}

/** How many credits, and the first time with which limits; one signature for both. */
function BuyDialog({ account, state, service, ...dialog }: FormProps) {
  const needsSpender = account.spender?.is_service !== true;
  const { rules } = account;
  const held = BigInt(account.available_credits) + BigInt(account.locked_credits);
  const room = BigInt(rules.account_credits_max) - held;
  const amount = useAmount(FIRST_PURCHASE_CREDITS, room);
  const { credits } = amount;
  const { fields, limits } = useLimits(proposedLimits(credits ?? FIRST_PURCHASE_CREDITS));
  const isWhole = credits !== undefined && (!needsSpender || limits !== undefined);
  const purchase = { service, limits: needsSpender ? limits : undefined };
  return (
    <PlanDialog
      title="Buy credits"
      {...dialog}
      makePlan={
        isWhole && !rules.deposits_paused
          ? () => buyPlan(state, { ...purchase, credits })
          : undefined
      }
    >
      {rules.deposits_paused && (
        <Warning>Buying credits is paused by the authority. Nothing was charged.</Warning>
      )}
      {room < 1n && (
        <Warning>
          The account holds all the {formatCount(rules.account_credits_max)} credits that it may,
          available and locked together.
        </Warning>
      )}
      {amount.field(
        credits === undefined ? 'One credit is 0.01 USDC.' : `Costs ${formatUsdc(credits)}.`,
      )}
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

const Warning = ({ children }: { children: ReactNode }) => (
  <Notice tone="warn">
    <p>{children}</p>
  </Notice>
);

function WithdrawDialog({ account, state, service: _, ...dialog }: FormProps) {
  const { available_credits: available } = account;
  const amount = useAmount(available, BigInt(available));
  const { credits } = amount;
  return (
    <PlanDialog
      title="Withdraw credits"
      {...dialog}
      makePlan={credits === undefined ? undefined : () => withdrawPlan(state, credits)}
    >
      {amount.field(
        credits === undefined
          ? `You have ${formatCount(available)} available.`
          : `${formatUsdc(credits)} go to your wallet.`,
      )}
      <p className="soft">Credits that are locked in jobs stay until the jobs end.</p>
    </PlanDialog>
  );
}

function LimitsDialog({ account, state, service, ...dialog }: FormProps) {
  const { spender, available_credits, locked_credits } = account;
  const held = BigInt(available_credits) + BigInt(locked_credits);
  const { fields, limits } = useLimits(
    proposedLimits(held || FIRST_PURCHASE_CREDITS),
    spender
      ? { perJob: spender.limit_per_job_credits, perDay: spender.limit_per_day_credits }
      : undefined,
  );
  return (
    <PlanDialog
      title="Change the limits"
      {...dialog}
      makePlan={limits && (() => limitsPlan(state, { service, limits }))}
    >
      {fields}
    </PlanDialog>
  );
}
