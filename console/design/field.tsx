import { type ComponentProps, type ReactNode, useId } from 'react';
import styles from './field.module.css';
import { joinClasses } from './joinClasses.ts';

interface Described {
  readonly label: string;
  readonly hint?: ReactNode;
  /** What is wrong with what was entered. */
  readonly error?: string | undefined;
  /** For text that is read letter by letter, such as an address. */
  readonly isCode?: boolean | undefined;
}

/** What every control has, and says of itself to assistive technology. */
type ControlProps = Pick<
  ComponentProps<'input'>,
  'id' | 'className' | 'autoComplete' | 'spellCheck' | 'aria-describedby' | 'aria-invalid'
>;

function Field({
  label,
  hint,
  error,
  isCode,
  children,
}: Described & { readonly children: (control: ControlProps) => ReactNode }) {
  const id = useId();
  const describedBy = [hint && `${id}-hint`, error && `${id}-error`].filter(Boolean).join(' ');
  return (
    <div className={styles.field}>
      <label className={styles.label} htmlFor={id}>
        {label}
      </label>
      {children({
        id,
        className: joinClasses(styles.input, isCode && 'mono'),
        autoComplete: 'off',
        spellCheck: false,
        'aria-describedby': describedBy || undefined,
        'aria-invalid': error ? true : undefined,
      })}
      {hint && (
        <div className={styles.hint} id={`${id}-hint`}>
          {hint}
        </div>
      )}
      {error && (
        <div className={styles.error} id={`${id}-error`} role="alert">
          {error}
        </div>
      )}
    </div>
  );
}

export function TextField({
  label,
  hint,
  error,
  isCode,
  ...props
}: Described & ComponentProps<'input'>) {
  return (
    <Field {...{ label, hint, error, isCode }}>
      {(control) => <input {...props} {...control} />}
    </Field>
  );
}

export function TextArea({
  label,
  hint,
  error,
  isCode,
  ...props
}: Described & ComponentProps<'textarea'>) {
  return (
    <Field {...{ label, hint, error, isCode }}>
      {(control) => <textarea {...props} {...control} />}
    </Field>
  );
}

export function SelectField({
  label,
  hint,
  error,
  options,
  ...props
}: Described &
  Omit<ComponentProps<'select'>, 'children'> & {
    readonly options: readonly (readonly [value: string, label: string])[];
  }) {
  return (
    <Field label={label} hint={hint} error={error}>
      {(control) => (
        <select {...props} {...control}>
          {options.map(([value, text]) => (
            <option key={value} value={value}>
              {text}
            </option>
          ))}
        </select>
      )}
    </Field>
  );
}

export function CheckField({
  label,
  ...props
}: { readonly label: ReactNode } & Omit<ComponentProps<'input'>, 'type'>) {
  return (
    <label className={styles.check}>
      <input {...props} type="checkbox" />
      <span>{label}</span>
    </label>
  );
}
