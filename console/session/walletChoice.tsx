import { useMutation } from '@tanstack/react-query';
import type { Wallet } from '@wallet-standard/base';
import type { SessionObject } from '../../api/contracts/index.ts';
import { ErrorNotice, Notice } from '../design/notice.tsx';
import { signInObstacle } from '../wallet/obstacles.ts';
import { signIn } from '../wallet/signIn.ts';
import { connect, useWallets } from '../wallet/wallets.ts';
import styles from './walletChoice.module.css';

/** Signs in with one of the wallets that this browser has. */
export function WalletChoice({ onDone }: { onDone: (session: SessionObject) => void }) {
  const wallets = useWallets();
  const signing = useMutation({
    mutationFn: async (wallet: Wallet) => signIn(await connect(wallet)),
    onSuccess: onDone,
  });
  return (
    <div className={styles.choice}>
      {wallets.length === 0 && (
        <Notice tone="info">
          <p>This browser has no Solana wallet that follows the wallet standard.</p>
          <p>Install one, such as Phantom, Solflare or Backpack, and reload this page.</p>
        </Notice>
      )}
      <ul className={styles.list}>
        {wallets.map((wallet) => (
          <WalletItem
            key={wallet.name}
            wallet={wallet}
            pending={signing.isPending ? signing.variables : undefined}
            onChoose={() => signing.mutate(wallet)}
          />
        ))}
      </ul>
      <ErrorNotice
        error={signing.error}
        money="You are not signed in. Nothing was signed for any payment."
      />
      <p className="hint">
        You sign a text with your address, a nonce and a time. It moves no credits and grants
        nothing on the ledger.
      </p>
    </div>
  );
}

function WalletItem(props: {
  wallet: Wallet;
  /** The wallet that was asked to sign. */
  pending: Wallet | undefined;
  onChoose: () => void;
}) {
  const { wallet, pending, onChoose } = props;
  const obstacle = signInObstacle(wallet);
  return (
    <li>
      <button
        type="button"
        className={styles.wallet}
        disabled={obstacle !== undefined || pending !== undefined}
        onClick={onChoose}
      >
        <img src={wallet.icon} alt="" width="24" height="24" />
        <span>{wallet.name}</span>
        <span className="soft">
          {pending === wallet ? 'Confirm in the wallet…' : !obstacle && 'Sign in'}
        </span>
      </button>
      {obstacle && (
        <p className="hint">
          {obstacle.what} {obstacle.remedy}
        </p>
      )}
    </li>
  );
}
