import { useState } from 'react';
import type { LedgerRules } from '../../../api/contracts/index.ts';
import type { Plan } from '../../../programs/client/wallet/plan.ts';
import { SelectField, TextField } from '../../design/field.tsx';
import { PlanDialog } from '../../ledger/planDialog.tsx';
import { TransactionDialog } from '../../ledger/transactionDialog.tsx';
import { gatewayPlan, modelPlan, pausePlan, retirePlan } from './plans.ts';

export type Model = LedgerRules['models'][number];

/** A change of the ledger's rules to be signed. */
export type Asked =
  | { readonly kind: 'pause'; readonly changes: Partial<LedgerRules> }
  | { readonly kind: 'gateway'; readonly isStopped: boolean }
  | { readonly kind: 'retire'; readonly model: Model }
  /** Without a model, of a new one. */
  | { readonly kind: 'model'; readonly model?: Model };

/** What has a change signed. It brings the ledger's code, so it is loaded on use. */
export default function RulesDialogs(props: {
  asked: Asked;
  rules: LedgerRules;
  programId: string;
  onClose: () => void;
}) {
  const { asked, rules, programId, onClose } = props;
  const [plan, setPlan] = useState<Plan | undefined>(() => planOf(asked, rules, programId));
  if (plan) return <TransactionDialog plan={plan} onClose={onClose} />;
  if (asked.kind !== 'model') return null;
  return (
    <ModelDialog
      model={asked.model}
      authority={rules.authority}
      programId={programId}
      onClose={onClose}
      onPlan={setPlan}
    />
  );
}

/** @returns undefined where more has to be asked first */
function planOf(asked: Asked, rules: LedgerRules, programId: string): Plan | undefined {
  if (asked.kind === 'pause') return pausePlan({ ...rules, ...asked.changes }, programId);
  if (asked.kind === 'retire') return retirePlan(asked.model, rules.authority, programId);
  if (asked.kind === 'gateway' && rules.gateway) {
    return gatewayPlan(rules.gateway, asked.isStopped, programId);
  }
  return undefined;
}

const TIERS = ['lite', 'standard', 'pro', 'max'] as const;
const NUMBERS = [
  ['context_window', 'Context window, in tokens'],
  ['credits_per_request', 'Credits per request'],
  ['long_completion_threshold', 'Tokens up to which that holds'],
  ['credits_per_1k_tokens', 'Credits per 1,000 tokens of a longer one'],
] as const;

/** Lengths as the program takes them, in printable ASCII. */
const TEXTS = [
  ['id', 'Id', 64],
  ['label', 'Parameters, as shown', 16],
  ['originator', 'Made by', 32],
] as const;

const NEW = {
  id: '',
  tier: 'standard',
  label: '',
  originator: '',
  context_window: '8192',
  credits_per_request: '1',
  credits_per_1k_tokens: '1',
  long_completion_threshold: '1000',
  card_hash: '',
};

type Fields = { [Key in keyof typeof NEW]: string };

/** A model's fields as they are entered. */
function fieldsOf(model: Model | undefined): Fields {
  if (model === undefined) return NEW;
  const names = Object.keys(NEW) as (keyof Fields)[];
  return Object.fromEntries(names.map((name) => [name, String(model[name] ?? '')])) as Fields;
}

/** @param fields whole ones */
function readFields({ tier, ...fields }: Fields): Parameters<typeof modelPlan>[0] {
  return {
    ...fields,
    tier: TIERS.find((one) => one === tier) ?? 'standard',
    context_window: Number(fields.context_window),
    credits_per_request: Number(fields.credits_per_request),
    credits_per_1k_tokens: Number(fields.credits_per_1k_tokens),
    long_completion_threshold: Number(fields.long_completion_threshold),
    card_hash: fields.card_hash.trim() || null,
  };
}

const isText = (text: string, max: number) =>
  text.length > 0 && text.length <= max && /^[\x20-\x7e]*$/.test(text);
const textFault = (text: string, max: number) =>
  text === '' || isText(text, max) ? undefined : `At most ${max} letters of ASCII.`;
const isHash = (text: string) => /^((sha256:)?[0-9a-f]{64})?$/.test(text.trim());
const isNumber = (text: string) => /^[1-9]\d{0,8}$/.test(text);

function ModelDialog(props: {
  model: Model | undefined;
  authority: string;
  programId: string;
  onPlan: (plan: Plan) => void;
  onClose: () => void;
}) {
  const { model, authority, programId, onPlan, onClose } = props;
  const [fields, setFields] = useState<Fields>(() => fieldsOf(model));
  const set = (name: keyof Fields) => (event: { target: { value: string } }) =>
    setFields({ ...fields, [name]: event.target.value });
  const isWhole =
    TEXTS.every(([name, , max]) => isText(fields[name], max)) &&
    NUMBERS.every(([name]) => isNumber(fields[name])) &&
    isHash(fields.card_hash);
  return (
    <PlanDialog
      title={model ? `Change ${model.id}` : 'Add a model'}
      signer={authority}
      onPlan={onPlan}
      onClose={onClose}
      makePlan={isWhole ? () => modelPlan(readFields(fields), authority, programId) : undefined}
    >
      {TEXTS.map(([name, label, max]) => (
        <TextField
          key={name}
          label={label}
          value={fields[name]}
          maxLength={max}
          disabled={name === 'id' && model !== undefined}
          error={textFault(fields[name], max)}
          onChange={set(name)}
        />
      ))}
      <SelectField label="Tier" options={TIERS} value={fields.tier} onChange={set('tier')} />
      {NUMBERS.map(([name, label]) => (
        <TextField
          key={name}
          label={label}
          inputMode="numeric"
          value={fields[name]}
          error={isNumber(fields[name]) ? undefined : 'A whole number, at least 1.'}
          onChange={set(name)}
        />
      ))}
      <TextField
        label="Hash of its card"
        hint="As svc model card prints it; empty pins none."
        isCode
        value={fields.card_hash}
        error={isHash(fields.card_hash) ? undefined : '64 digits of hex, or nothing.'}
        onChange={set('card_hash')}
      />
    </PlanDialog>
  );
}
