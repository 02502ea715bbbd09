import { CREDITS_MAX, NO_LIMIT } from '@svc-inference/client/wallet';
import { useState } from 'react';
import { DAY_COUNTS, type Limits } from '../../../programs/client/wallet/creditPlans.ts';
import { CheckField, TextField } from '../../design/field.tsx';
import { formatCount } from '../../design/formats.ts';
import { formatUsdc, readCredits } from '../../design/values.tsx';

interface LimitField {
  readonly text: string;
  readonly isUnlimited: boolean;
}

interface LimitsGiven {
  /** Credits as they are written; null where the wallet has stated that it sets no limit. */
  readonly perJob: string | null;
  readonly perDay: string | null;
}

/**
 * What was entered as limits; undefined where it is not whole yet.
 *
 * @param proposed what a field shows, and follows, until it is changed
 * @param given what the wallet has stated, which comes before
 */
export function useLimits(proposed: Limits, given?: LimitsGiven) {
  const [enteredPerJob, setPerJob] = useState<LimitField>();
  const [enteredPerDay, setPerDay] = useState<LimitField>();
  const perJob = enteredPerJob ?? fieldOf(proposed.perJobCredits, given?.perJob);
  const perDay = enteredPerDay ?? fieldOf(proposed.perDayCredits, given?.perDay);
  const fields = (
    <>
      <LimitInput of="job" field={perJob} onChange={setPerJob} />
      <LimitInput of="day" field={perDay} onChange={setPerDay} />
      <p className="soft">{DAY_COUNTS}</p>
    </>
  );
  const [perJobCredits, perDayCredits] = [creditsOf(perJob), creditsOf(perDay)];
  const limits: Limits | undefined =
    perJobCredits !== undefined && perDayCredits !== undefined
      ? { perJobCredits, perDayCredits }
      : undefined;
  return { fields, limits };
}

const fieldOf = (proposed: bigint, given: string | null | undefined): LimitField => ({
  text: given ?? formatCount(proposed),
  isUnlimited: given === null,
});

const read = (text: string, period = '') =>
  readCredits(text, { name: `At most per ${period}`, most: CREDITS_MAX });
const creditsOf = ({ text, isUnlimited }: LimitField) =>
  isUnlimited ? NO_LIMIT : read(text).credits;

function LimitInput(props: {
  of: 'job' | 'day';
  field: LimitField;
  onChange: (field: LimitField) => void;
}) {
  const { of: period, field, onChange } = props;
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
