import { createContext, type ReactNode, use, useRef } from 'react';
import type { SessionObject } from '../../api/contracts/index.ts';
import { Reading } from '../design/notice.tsx';
import { PageHeader } from '../design/page.tsx';
import { type PageHead, SIGN_IN_HEAD } from '../routes.ts';
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
export function SignedIn({ head, children }: { head: PageHead | undefined; children: ReactNode }) {
  const { session, error, readSession, signOuts, accept } = useSession();
  const last = useRef<{ session: SessionObject; signOuts: number }>(undefined);
  if (session) last.current = { session, signOuts };
  if (session === undefined) {
    return (
      <>
        {head && <PageHeader {...head} />}
        <Reading
          of={{ data: undefined, error, isLoading: true, refetch: readSession }}
          what="who is signed in"
        />
      </>
    );
  }
  if (last.current?.signOuts !== signOuts) {
    return (
      <div className={styles.panel}>
        <h1>{SIGN_IN_HEAD.title}</h1>
        <p className="soft">{SIGN_IN_HEAD.lead}</p>
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
