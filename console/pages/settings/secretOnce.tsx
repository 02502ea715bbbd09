import type { ReactNode } from 'react';
import { Button } from '../../design/button.tsx';
import { CopyButton } from '../../design/copy.tsx';
import { Dialog } from '../../design/dialog.tsx';
import { Notice } from '../../design/notice.tsx';
import { Row } from '../../design/page.tsx';
import styles from './secretOnce.module.css';

/** Shows what is never shown again. It is kept nowhere but here, until this is closed. */
export function SecretOnce(props: {
  title: string;
  secret: string;
  /** In which form the service keeps it. */
  kept: 'its hash' | 'it sealed';
  children?: ReactNode;
  onClose: () => void;
}) {
  const { title, secret, kept, children, onClose } = props;
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
