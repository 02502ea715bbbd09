import { CREDITS_MAX, NO_LIMIT } from '@svc-inference/client/wallet';
import { useState } from 'react';
import type { Limits } from '../../../programs/client/wallet/creditPlans.ts';
import { formatUsdc, readCredits } from '../../design/credits.tsx';
import { CheckField, TextField } from '../../design/field.tsx';

interface LimitField {
  readonly text: string;
  readonly isUnlimited: boolean;
}

/** What a wallet that has named no limits yet is offered. docs/deploying.md suggests the same. */
export const SUGGESTED_LIMITS = { perJob: '400', perDay: '4,000' } as const;

interface LimitsGiven {
  /** Credits as they are written; null where the wallet has stated that it sets no limit. */
  readonly perJob: string | null;
  readonly perDay: string | null;
}

/** What was entered as limits; undefined where it is not whole yet. */
export function useLimits(first: LimitsGiven) {
  const begin = (given: string | null, suggested: string): LimitField => ({
    text: given ?? suggested,
    isUnlimited: given === null,
  });
  const [perJob, setPerJob] = useState(() => begin(first.perJob, SUGGESTED_LIMITS.perJob));
  const [perDay, setPerDay] = useState(() => begin(first.perDay, SUGGESTED_LIMITS.perDay));
  const fields = (
    <>
      <LimitInput of="job" field={perJob} onChange={setPerJob} />
      <LimitInput of="day" field={perDay} onChange={setPerDay} />
    </>
  );
  const [perJobCredits, perDayCredits] = [creditsOf(perJob), creditsOf(perDay)];
  const limits: Limits | undefined =
    perJobCredits !== undefined && perDayCredits !== undefined
      ? { perJobCredits, perDayCredits }
      : undefined;
  return { fields, limits };
}

const read = (text: string, period = '') =>
  readCredits(text, { name: `At most per ${period}`, most: CREDITS_MAX });
const creditsOf = ({ text, isUnlimited }: LimitField) =>
  isUnlimited ? NO_LIMIT : read(text).credits;

function LimitInput({
  of: period,
  field,
  onChange,
}: {
  readonly of: 'job' | 'day';
  readonly field: LimitField;
  readonly onChange: (field: LimitField) => void;
}) {
  const { credits, wrong } = read(field.text, period);
  return (
    <>
      <TextField
        label={`At most per ${period}, in credits`}
        inputMode="numeric"
        disabled={field.isUnlimited}
        value={field.text}
        error={field.isUnlimited ? undefined : wrong}
        hint={credits !== undefined && !field.isUnlimited ? formatUsdc(credits) : undefined}
        onChange={(event) => onChange({ ...field, text: event.target.value })}
      />
      <CheckField
        label={`No limit for a ${period}`}
        checked={field.isUnlimited}
        onChange={(event) => onChange({ ...field, isUnlimited: event.target.checked })}
      />
    </>
  );
}
