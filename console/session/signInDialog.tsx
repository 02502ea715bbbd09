import type { SessionObject } from '../../api/contracts/index.ts';
import { Dialog } from '../design/dialog.tsx';
import { WalletChoice } from './walletChoice.tsx';

export default function SignInDialog(props: {
  reason: string;
  onDone: (session: SessionObject) => void;
  onClose: () => void;
}) {
  const { reason, onDone, onClose } = props;
  return (
    <Dialog title="Sign in" onClose={onClose}>
      <p>{reason}</p>
      <WalletChoice onDone={onDone} />
    </Dialog>
  );
}
