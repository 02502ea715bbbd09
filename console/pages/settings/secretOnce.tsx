import type { ReactNode } from 'react';
import { Button } from '../../design/button.tsx';
import { CopyButton } from '../../design/copy.tsx';
import { Dialog } from '../../design/dialog.tsx';
import { Notice } from '../../design/notice.tsx';
import { Row } from '../../design/page.tsx';
import styles from './secretOnce.module.css';

/** Shows what is never shown again. It is kept nowhere but here, until this is closed. */
export function SecretOnce({
  title,
  secret,
  kept,
  children,
  onClose,
}: {
  readonly title: string;
  readonly secret: string;
  /** In which form the service keeps it. */
  readonly kept: 'its hash' | 'it sealed';
  readonly children?: ReactNode;
  readonly onClose: () => void;
}) {
  return (
    <Dialog
      isWide
      isKept
      title={title}
      onClose={onClose}
      foot={
        <Button kind="primary" onClick={onClose}>
          I have kept it
        </Button>
      }
    >
      <Notice tone="warn">
        <p>This is shown once. Keep it now: the service stores only {kept}.</p>
      </Notice>
      <Row>
        <code className={styles.secret}>{secret}</code>
        <CopyButton text={secret} />
      </Row>
      {children}
    </Dialog>
  );
}
