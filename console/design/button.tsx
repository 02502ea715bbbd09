import type { ComponentProps, ReactNode } from 'react';
import styles from './button.module.css';
import { joinClasses } from './joinClasses.ts';

type Kind = 'primary' | 'danger' | 'quiet' | 'link';

interface ButtonProps extends Omit<ComponentProps<'button'>, 'type'> {
  readonly kind?: Kind | undefined;
  readonly size?: 'small' | undefined;
  /** What it is doing at present, in its label's place. It takes no press then. */
  readonly pending?: string | false | undefined;
}

export function Button({ kind, size, pending, className, children, ...props }: ButtonProps) {
  return (
    <button
      {...props}
      type="button"
      className={joinClasses(buttonClass(kind, size), className)}
      disabled={props.disabled || Boolean(pending)}
      aria-busy={pending ? true : undefined}
    >
      {pending || children}
    </button>
  );
}

/** For links that look like buttons. */
export function buttonClass(kind?: Kind, size?: 'small'): string {
  return joinClasses(styles.button, kind && styles[kind], size && styles[size]);
}

/** A button without words; its label is for assistive technology. */
export function IconButton({
  label,
  children,
  ...props
}: Omit<ComponentProps<'button'>, 'type'> & { readonly label: string; children: ReactNode }) {
  return (
    <button {...props} type="button" className={styles.icon} aria-label={label} title={label}>
      {children}
    </button>
  );
}
