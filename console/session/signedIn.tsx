import { createContext, type ReactNode, use, useRef } from 'react';
import type { SessionObject } from '../../api/console/contracts/index.ts';
import { useSession } from './session.tsx';
import styles from './walletChoice.module.css';
import { WalletChoice } from './walletChoice.tsx';

const Context = createContext<SessionObject | undefined>(undefined);

/** Whose page this is. @throws Error outside of SignedIn */
export function useSignedIn(): SessionObject {
  const session = use(Context);
  if (session === undefined) throw new Error('There is no SignedIn around this');
  return session;
}

/** Pages of a wallet. One that was open stays open when its session ends, with what was entered. */
export function SignedIn({ children }: { readonly children: ReactNode }) {
  const { session, signOuts, accept } = useSession();
  const last = useRef<{ session: SessionObject; signOuts: number }>(undefined);
  if (session) last.current = { session, signOuts };
  if (session === undefined) return null;
  if (last.current?.signOuts !== signOuts) {
    return (
      <div className={styles.panel}>
        <h1>Sign in with your wallet</h1>
        <p className="soft">
          Your wallet owns your credits and your API key. There is no account and no password.
        </p>
        <WalletChoice onDone={accept} />
      </div>
    );
  }
  return (
    <Context value={last.current.session} key={last.current.session.wallet}>
      {children}
    </Context>
  );
}
