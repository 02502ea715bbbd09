import { useState } from 'react';
import { formatUsdc, parseCredits } from '../../design/credits.tsx';
import { CheckField, TextField } from '../../design/field.tsx';
import type { Limits } from './plans.ts';

interface LimitField {
  readonly text: string;
  readonly isUnlimited: boolean;
}

/** What a wallet that has named no limits yet is offered. docs/deploying.md suggests the same. */
export const SUGGESTED_LIMITS = { perJob: '400', perDay: '4,000' } as const;

/** What was entered as limits; undefined where it is not whole yet. */
export function useLimits(first: { readonly perJob: string; readonly perDay: string }) {
  const [perJob, setPerJob] = useState<LimitField>({ text: first.perJob, isUnlimited: false });
  const [perDay, setPerDay] = useState<LimitField>({ text: first.perDay, isUnlimited: false });
  const fields = (
    <>
      <LimitInput label="At most per job, in credits" field={perJob} onChange={setPerJob} />
      <LimitInput label="At most per day, in credits" field={perDay} onChange={setPerDay} />
    </>
  );
  return { fields, limits: limitsOf(perJob, perDay) };
}

function limitsOf(perJob: LimitField, perDay: LimitField): Limits | undefined {
  const read = ({ text, isUnlimited }: LimitField) =>
    isUnlimited ? ('none' as const) : parseCredits(text);
  const [job, day] = [read(perJob), read(perDay)];
  if (job === undefined || day === undefined) return undefined;
  return {
    perJobCredits: job === 'none' ? undefined : job,
    perDayCredits: day === 'none' ? undefined : day,
  };
}

function LimitInput({
  label,
  field,
  onChange,
}: {
  readonly label: string;
  readonly field: LimitField;
  readonly onChange: (field: LimitField) => void;
}) {
  const entered = parseCredits(field.text);
  const isWrong = !field.isUnlimited && entered === undefined;
  return (
    <>
      <TextField
        label={label}
        inputMode="numeric"
        disabled={field.isUnlimited}
        value={field.text}
        error={isWrong ? 'A whole number of credits, at least 1.' : undefined}
        hint={entered !== undefined && !field.isUnlimited ? formatUsdc(entered) : undefined}
        onChange={(event) => onChange({ ...field, text: event.target.value })}
      />
      <CheckField
        label="No limit"
        checked={field.isUnlimited}
        onChange={(event) => onChange({ ...field, isUnlimited: event.target.checked })}
      />
    </>
  );
}
