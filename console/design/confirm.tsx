import { type ReactNode, useState } from 'react';
import { Button } from './button.tsx';
import { Dialog } from './dialog.tsx';
import { ErrorNotice } from './notice.tsx';

/** Asks before something that cannot be taken back. */
export function Confirm({
  title,
  children,
  action,
  money,
  onConfirm,
  onClose,
}: {
  readonly title: string;
  readonly children: ReactNode;
  /** What the button does, as its label. */
  readonly action: string;
  /** What became of the money where it fails. */
  readonly money: string;
  readonly onConfirm: () => Promise<unknown>;
  readonly onClose: () => void;
}) {
  const [isPending, setPending] = useState(false);
  const [error, setError] = useState<unknown>();
  const confirm = async () => {
    setPending(true);
    setError(undefined);
    try {
      await onConfirm();
      onClose();
    } catch (thrown) {
      setError(thrown);
      setPending(false);
    }
  };
  return (
    <Dialog
      title={title}
      onClose={onClose}
      foot={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button kind="danger" pending={isPending && 'One moment…'} onClick={() => void confirm()}>
            {action}
          </Button>
        </>
      }
    >
      {children}
      {error !== undefined && <ErrorNotice error={error} money={money} />}
    </Dialog>
  );
}
