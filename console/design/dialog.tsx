import { Dialog as Base } from '@base-ui/react/dialog';
import type { ReactNode } from 'react';
import buttons from './button.module.css';
import styles from './dialog.module.css';
import { CrossIcon } from './icons.tsx';
import { joinClasses } from './joinClasses.ts';

interface DialogProps {
  readonly title: string;
  readonly onClose: () => void;
  readonly children: ReactNode;
  /** Buttons at its end. */
  readonly foot?: ReactNode;
  readonly isWide?: boolean;
}

/** A dialog that is open for as long as it is rendered. */
export function Dialog({ isWide, ...props }: DialogProps) {
  return <Modal {...props} className={joinClasses(styles.dialog, isWide && styles.wide)} />;
}

/** The same at the page's right, for what belongs to one row of a list. */
export function Drawer(props: Omit<DialogProps, 'isWide'>) {
  return <Modal {...props} className={styles.drawer} />;
}

function Modal({
  title,
  onClose,
  children,
  foot,
  className,
}: DialogProps & { readonly className: string | undefined }) {
  return (
    <Base.Root open onOpenChange={(isOpen) => !isOpen && onClose()}>
      <Base.Portal>
        <Base.Backdrop className={styles.backdrop} />
        <Base.Popup className={className}>
          <div className={styles.head}>
            <Base.Title className={styles.title}>{title}</Base.Title>
            <Base.Close className={buttons.icon} aria-label="Close">
              <CrossIcon />
            </Base.Close>
          </div>
          {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls has to be reached by keyboard */}
          <section className={styles.body} tabIndex={0} aria-label={`${title}, content`}>
            {children}
          </section>
          {foot && <div className={styles.foot}>{foot}</div>}
        </Base.Popup>
      </Base.Portal>
    </Base.Root>
  );
}
