import { type ComponentProps, type ElementType, type ReactNode, useId } from 'react';
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

interface FieldProps extends Described {
  readonly as: ElementType;
  readonly children?: ReactNode;
}

/** A label with its control, which gets the other props and says what describes it. */
function Field({ as: Control, label, hint, error, isCode, ...props }: FieldProps) {
  const id = useId();
  const describedBy = [hint && `${id}-hint`, error && `${id}-error`].filter(Boolean).join(' ');
  return (
    <div className={styles.field}>
      <label className={styles.label} htmlFor={id}>
        {label}
      </label>
      <Control
        {...props}
        id={id}
        className={joinClasses(styles.input, isCode && 'mono')}
        autoComplete="off"
        spellCheck={false}
        aria-describedby={describedBy || undefined}
        aria-invalid={error ? true : undefined}
      />
      {hint && (
        <div className="hint" id={`${id}-hint`}>
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

export const TextField = (props: Described & ComponentProps<'input'>) => (
  <Field {...props} as="input" />
);

export const TextArea = (props: Described & ComponentProps<'textarea'>) => (
  <Field {...props} as="textarea" />
);

export function SelectField({
  options,
  ...props
}: Described &
  Omit<ComponentProps<'select'>, 'children'> & {
    /** A value that is not its own label stands before it. */
    readonly options: readonly (string | readonly [value: string, label: string])[];
  }) {
  return (
    <Field {...props} as="select">
      {options
        .map((option) => (typeof option === 'string' ? ([option, option] as const) : option))
        .map(([value, text]) => (
          <option key={value} value={value}>
            {text}
          </option>
        ))}
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
