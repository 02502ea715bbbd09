import { type Query, useQueryClient } from '@tanstack/react-query';
import {
  createContext,
  type ReactNode,
  use,
  useCallback,
  useEffect,
  useMemo,
  useRef,
  useState,
} from 'react';
import type { SessionObject } from '../../api/contracts/index.ts';
import { isPublic } from '../data/access.ts';
import { keyOf, readAgain, useRead } from '../data/queries.ts';
import { call, RequestError } from '../data/request.ts';
import { isSessionOver, noteLeavingWallet, onEndedSession } from '../data/sessionEnd.ts';
import { notifyTabs, useNews } from '../data/tabs.ts';
import { dialogOnUse } from '../design/onUse.tsx';

const SignInDialog = dialogOnUse(() => import('./signInDialog.tsx'));

interface Asked {
  readonly reason: string;
  readonly resolve: (session: SessionObject) => void;
  readonly reject: (error: Error) => void;
}

interface SessionState {
  /** Undefined until it is known, null without one. */
  readonly session: SessionObject | null | undefined;
  /** Why it is not known. */
  readonly error: Error | null;
  readonly readSession: () => void;
  /** Takes over a new session. */
  readonly accept: (made: SessionObject) => void;
  /** @throws NotSignedInError when the dialog is closed without a sign-in */
  readonly askSignIn: (reason: string) => Promise<SessionObject>;
  /** @throws Error when the service does not end the session */
  readonly signOut: () => Promise<void>;
  /** Why the last sign-out did not succeed. */
  readonly signOutError: Error | null;
  /** How many sign-outs this browser has seen. Each closes the pages of a wallet that are open. */
  readonly signOuts: number;
}

const Context = createContext<SessionState | undefined>(undefined);

/** @throws Error outside of SessionProvider */
export function useSession(): SessionState {
  const state = use(Context);
  if (state === undefined) throw new Error('There is no SessionProvider around this');
  return state;
}

class NotSignedInError extends Error {
  override name = 'NotSignedInError';
}

/**
 * Holds the session, and asks for a sign-in over the page that is open. The session is the
 * browser's: a sign-in or sign-out in one tab holds for all of them.
 */
export function SessionProvider({ children }: { children: ReactNode }) {
  const client = useQueryClient();
  const { data, error, refetch } = useRead('/session');
  const session = data?.session;
  const { asked, askSignIn, close } = useSignInQuestion();
  const [signOuts, setSignOuts] = useState(0);
  const [signOutError, setSignOutError] = useState<Error | null>(null);
  const lastWallet = useRef<string>(undefined);
  lastWallet.current = session?.wallet ?? lastWallet.current;

  const take = (made: SessionObject) => {
    const isOther = lastWallet.current !== undefined && lastWallet.current !== made.wallet;
    client.setQueryData(keyOf('/session'), { session: made });
    // Of another wallet nothing is shown, not even until its own is read.
    if (isOther) noteLeavingWallet();
    void (isOther ? client.resetQueries({ predicate: isPrivate }) : readAgain(client));
    close();
    asked?.resolve(made);
  };
  const decline = () => {
    close();
    asked?.reject(new NotSignedInError('The sign-in was cancelled.'));
  };
  const leave = () => {
    setSignOuts((count) => count + 1);
    client.setQueryData(keyOf('/session'), { session: null });
    client.removeQueries({ predicate: isPrivate });
    noteLeavingWallet();
    decline();
  };
  const latest = useRef({ take, leave });
  latest.current = { take, leave };
  useNews((news) => {
    if (news.kind === 'changed') void readAgain(client, news.paths);
    if (news.kind === 'signed out') leave();
    if (news.kind === 'signed in') void readSession((made) => latest.current.take(made));
  });

  const state = useMemo(
    () => ({
      session,
      error,
      readSession: () => void refetch(),
      askSignIn,
      signOuts,
      signOutError,
      accept(made: SessionObject) {
        latest.current.take(made);
        notifyTabs({ kind: 'signed in' });
      },
      async signOut() {
        setSignOutError(null);
        await endSession().catch((thrown: Error) => {
          setSignOutError(thrown);
          throw thrown;
        });
        latest.current.leave();
        notifyTabs({ kind: 'signed out' });
      },
    }),
    [session, error, refetch, askSignIn, signOuts, signOutError],
  );

  return (
    <Context value={state}>
      {children}
      {asked && <SignInDialog reason={asked.reason} onDone={state.accept} onClose={decline} />}
    </Context>
  );
}

/** The question for a sign-in, while one is asked: by the page, or since the session is over. */
function useSignInQuestion() {
  const client = useQueryClient();
  const [asked, setAsked] = useState<Asked>();
  const askSignIn = useCallback(
    (reason: string) =>
      new Promise<SessionObject>((resolve, reject) => setAsked({ reason, resolve, reject })),
    [],
  );
  useEffect(
    () =>
      onEndedSession(() => {
        void readAgain(client, ['/session']);
        const reason = 'Your session is over. Sign in again: what you have entered here stays.';
        setAsked((current) => current ?? { reason, resolve: () => {}, reject: () => {} });
      }),
    [client],
  );
  return { asked, askSignIn, close: () => setAsked(undefined) };
}

/** Reads the session that another tab has made. The page learns of a failure by its next request. */
async function readSession(take: (made: SessionObject) => void): Promise<void> {
  const answer = await call('GET', '/session').catch(() => undefined);
  if (answer?.session) take(answer.session);
}

/** A session that is over already is what was asked for. */
async function endSession(): Promise<void> {
  await call('DELETE', '/session').catch((error: Error) => {
    if (!isSessionOver(error)) throw error;
  });
}

/** Of one wallet. */
const isPrivate = ({ queryKey }: Query) => !isPublic(String(queryKey[0]));

/**
 * Does what needs a sign-in of the last 15 minutes, and asks for one where there is none.
 *
 * @param what is to be shown, for the question
 */
export function useFresh() {
  const { askSignIn } = useSession();
  return async <Result,>(what: string, action: () => Promise<Result>): Promise<Result> => {
    try {
      return await action();
    } catch (error) {
      const isStale = error instanceof RequestError && error.code === 'fresh_sign_in_required';
      if (!isStale) throw error;
      await askSignIn(`${what} takes a sign-in less than 15 minutes old. Sign in once more.`);
      return action();
    }
  };
}
