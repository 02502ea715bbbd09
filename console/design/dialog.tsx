import { Dialog as Base } from '@base-ui/react/dialog';
import { type KeyboardEvent, type ReactNode, useRef } from 'react';
import { afterPaint } from '../screen/afterPaint.ts';
import buttons from './button.module.css';
import styles from './dialog.module.css';
import { CrossIcon } from './icons.tsx';
import { joinClasses } from './joinClasses.ts';

interface DialogProps {
  readonly title: string;
  /** Closes it. */
  readonly onClose: () => void;
  readonly children: ReactNode;
  /** Buttons at its end. */
  readonly foot?: ReactNode;
  readonly isWide?: boolean;
  /** Whether only its own buttons close it: for what is lost with it. */
  readonly isKept?: boolean;
  /** What Enter in a field of one line does. */
  readonly onEnter?: (() => void) | undefined;
}

/** A dialog that is open for as long as it is rendered. */
export function Dialog({ isWide, ...props }: DialogProps) {
  return <Modal {...props} className={joinClasses(styles.dialog, isWide && styles.wide)} />;
}

/** The same at the page's right, for what belongs to one row of a list. */
export function Drawer({ isWide, ...props }: DialogProps) {
  return <Modal {...props} className={joinClasses(styles.drawer, isWide && styles.wide)} />;
}

function Modal({
  title,
  onClose,
  children,
  foot,
  onEnter,
  isKept,
  className,
}: DialogProps & { readonly className: string | undefined }) {
  const takeEnter = (event: KeyboardEvent) => {
    const { key, target, nativeEvent } = event;
    const isWritten = target instanceof HTMLInputElement && target.type !== 'checkbox';
    if (onEnter === undefined || key !== 'Enter' || !isWritten || nativeEvent.isComposing) return;
    // Else the same press would also fall on what the next dialog puts in focus.
    event.preventDefault();
    onEnter();
  };
  const popup = useRef<HTMLDivElement>(null);
  const backdrop = useRef<HTMLDivElement>(null);
  const closer = useRef<HTMLButtonElement>(null);
  const close = () => {
    // Out of sight at once: a slow browser takes longer to remove it and draw the page again.
    for (const part of [popup, backdrop]) part.current?.classList.add(styles.closed ?? '');
    afterPaint(onClose);
  };
  return (
    <Base.Root
      open
      // A press beside it would lose what was entered.
      disablePointerDismissal={isKept || onEnter !== undefined}
      onOpenChange={(isOpen, { reason }) => {
        if (!isOpen && !(isKept && reason === 'escape-key')) close();
      }}
    >
      <Base.Portal>
        <Base.Backdrop ref={backdrop} className={styles.backdrop} />
        <Base.Popup
          ref={popup}
          className={className}
          onKeyDown={takeEnter}
          initialFocus={(openType) =>
            // By name: otherwise the library measures every control to find the first one.
            (openType !== 'touch' && onEnter !== undefined && firstField(popup.current)) ||
            closer.current
          }
        >
          <div className={styles.head}>
            <Base.Title className={styles.title}>{title}</Base.Title>
            <Base.Close ref={closer} className={buttons.icon} aria-label="Close">
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

/** What a form asks for first. */
function firstField(popup: HTMLElement | null): HTMLElement | null | undefined {
  return popup?.querySelector<HTMLElement>('input:not([type=checkbox]):enabled');
}
