import { useMutation } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { Button } from './button.tsx';
import { Dialog } from './dialog.tsx';
import { ErrorNotice } from './notice.tsx';

/** Asks before something that cannot be taken back. */
export function Confirm(props: {
  title: string;
  children: ReactNode;
  /** What the button does, as its label. */
  action: string;
  /** What became of the money where it fails. */
  money: string;
  onConfirm: () => Promise<unknown>;
  onClose: () => void;
}) {
  const { title, children, action, money, onConfirm, onClose } = props;
  const { isPending, error, mutate } = useMutation({ mutationFn: onConfirm, onSuccess: onClose });
  return (
    <Dialog
      title={title}
      onClose={onClose}
      foot={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button kind="danger" pending={isPending && 'One moment…'} onClick={() => mutate()}>
            {action}
          </Button>
        </>
      }
    >
      {children}
      <ErrorNotice error={error} money={money} />
    </Dialog>
  );
}
