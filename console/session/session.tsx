import { useQueryClient } from '@tanstack/react-query';
import {
  createContext,
  lazy,
  type ReactNode,
  Suspense,
  use,
  useCallback,
  useEffect,
  useMemo,
  useState,
} from 'react';
import type { SessionObject } from '../../api/console/contracts/index.ts';
import { keyOf, useRead } from '../data/queries.ts';
import { call, RequestError } from '../data/request.ts';
import { onEndedSession } from '../data/sessionEnd.ts';

const SignInDialog = lazy(() => import('./signInDialog.tsx'));

interface Asked {
  readonly reason: string;
  readonly resolve: (session: SessionObject) => void;
  readonly reject: (error: Error) => void;
}

interface SessionState {
  /** Undefined until it is known, null without one. */
  readonly session: SessionObject | null | undefined;
  /** @throws Error when nobody signs in */
  readonly askSignIn: (reason: string) => Promise<SessionObject>;
  readonly signOut: () => Promise<void>;
  /** How often somebody has signed out here: what was open before is closed then. */
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

/** Knows who is signed in, and asks for a sign-in over whatever page is open. */
export function SessionProvider({ children }: { readonly children: ReactNode }) {
  const client = useQueryClient();
  const session = useRead('/session').data?.session;
  const [asked, setAsked] = useState<Asked>();
  const [signOuts, setSignOuts] = useState(0);

  const askSignIn = useCallback(
    (reason: string) =>
      new Promise<SessionObject>((resolve, reject) => setAsked({ reason, resolve, reject })),
    [],
  );

  useEffect(
    () =>
      onEndedSession(() => {
        setAsked(
          (current) =>
            current ?? {
              reason: 'Your session is over. Sign in again: what you have entered here stays.',
              resolve: () => {},
              reject: () => {},
            },
        );
      }),
    [],
  );

  const state = useMemo(
    () => ({
      session,
      askSignIn,
      signOuts,
      async signOut() {
        await call('DELETE', '/session');
        setSignOuts((count) => count + 1);
        client.setQueryData(keyOf('/session'), { session: null });
        client.removeQueries({ predicate: ({ queryKey }) => !isPublic(String(queryKey[0])) });
      },
    }),
    [session, askSignIn, signOuts, client],
  );

  const close = (made?: SessionObject) => {
    setAsked(undefined);
    if (made === undefined) asked?.reject(new NotSignedInError('Nobody signed in.'));
    else {
      client.setQueryData(keyOf('/session'), { session: made });
      void client.invalidateQueries();
      asked?.resolve(made);
    }
  };

  return (
    <Context value={state}>
      {children}
      {asked && (
        <Suspense>
          <SignInDialog reason={asked.reason} onDone={close} onClose={() => close()} />
        </Suspense>
      )}
    </Context>
  );
}

/** Read without a session, and so not of one wallet. */
const isPublic = (path: string) =>
  ['/session', '/config', '/network', '/models', '/workers', '/status'].includes(path);

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
      await askSignIn(`${what} is shown within 15 minutes of a sign-in only. Sign in once more.`);
      return action();
    }
  };
}
