import type { SessionObject } from '../../api/contracts/index.ts';
import { Dialog } from '../design/dialog.tsx';
import { WalletChoice } from './walletChoice.tsx';

export default function SignInDialog({
  reason,
  onDone,
  onClose,
}: {
  readonly reason: string;
  readonly onDone: (session: SessionObject) => void;
  readonly onClose: () => void;
}) {
  return (
    <Dialog title="Sign in" onClose={onClose}>
      <p>{reason}</p>
      <WalletChoice onDone={onDone} />
    </Dialog>
  );
}
