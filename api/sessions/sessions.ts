import { hash, randomBytes, randomUUID } from 'node:crypto';
import type { Database } from '../../common/postgres.ts';
import { publicKeyOf } from '../../programs/client/keys.ts';
import { verifySignature } from '../../programs/client/proof.ts';
import { ApiError } from '../contracts/errors.ts';
import type { SessionObject, SignInMessage } from '../contracts/session.ts';
import {
  deleteSession,
  insertSession,
  type SessionRow,
  type SessionWithRoles,
  selectSession,
  selectSessions,
  useSignIn,
} from '../sql/sessions.ts';
import { signedForms } from './signedForms.ts';
import type { SignInTexts } from './signInText.ts';

interface SignIn {
  address: string;
  nonce: string;
  /** In base64. */
  signed_message: string;
  signature: string;
}

/** A signed-in wallet. */
export interface Session extends SessionWithRoles {
  is_operator: boolean;
}

const TOKEN_BYTES = 32;
const TOKEN = /^[A-Za-z0-9_-]{43}$/;
const BROWSER_LENGTH_MAX = 300;

interface SignInServices {
  database: Database;
  texts: SignInTexts;
  nowMs: () => number;
}

export type Sessions = ReturnType<typeof createSessions>;

/**
 * @param options.operators wallets that may do what is not on the ledger
 * @param options.gateway the Gateway account's address
 */
export function createSessions(
  options: SignInServices & { operators: readonly string[]; gateway: string },
) {
  const { database, texts, operators, gateway } = options;

  /** @returns the live session of a cookie's token */
  async function find(token: string): Promise<Session | undefined> {
    if (!TOKEN.test(token)) return undefined;
    const session = await selectSession(database, { tokenSha256: hashToken(token), gateway });
    return session && { ...session, is_operator: operators.includes(session.wallet) };
  }

  return {
    async message(address: string): Promise<SignInMessage> {
      const { message, input } = await texts.write(address);
      return { message, input };
    },
    /**
     * Opens a session.
     *
     * @returns it, and the token of its cookie, which is kept nowhere else
     * @throws ApiError `sign_in_refused`
     */
    async start(signIn: SignIn, browser: string): Promise<{ session: Session; token: string }> {
      await checkSignIn(options, signIn);
      const token = randomBytes(TOKEN_BYTES).toString('base64url');
      await insertSession(database, {
        tokenSha256: hashToken(token),
        id: `ses_${randomUUID().replaceAll('-', '')}`,
        wallet: signIn.address,
        browser: browser.slice(0, BROWSER_LENGTH_MAX),
      });
      const session = await find(token);
      if (!session) throw new Error('A new session was not found');
      return { session, token };
    },
    find,
    list: (wallet: string): Promise<SessionRow[]> => selectSessions(database, wallet),
    /** @throws ApiError `session_not_found` */
    async end(key: { wallet: string; id: string }): Promise<void> {
      if (await deleteSession(database, key)) return;
      throw new ApiError('session_not_found', 'The wallet has no such session.');
    },
  };
}

/** @throws ApiError where the sign-in is not this wallet's, is too late or was used before */
async function checkSignIn(
  { database, texts, nowMs }: SignInServices,
  { address, nonce, signed_message, signature }: SignIn,
): Promise<void> {
  const text = await texts.restore(address, nonce);
  if (!text) throw refused('The text to sign was not made here for this wallet.');
  if (text.expiresAtMs <= nowMs()) throw refused('The text was signed too late. Sign a new one.');
  const publicKey = publicKeyOf(address);
  const forms = signedForms(text.message, publicKey, text.input.domain);
  const named = Buffer.from(signed_message, 'base64');
  const isBare = named.equals(Buffer.from(text.message));
  // Some wallets return the text, although the device signed an envelope around it.
  const possible = isBare ? forms : forms.filter((form) => form.equals(named));
  if (possible.length === 0) throw refused('Another text was signed than the one to sign.');
  const bytes = Buffer.from(signature, 'base64');
  const isSigned = possible.some((message) =>
    verifySignature({ message, publicKey, signature: bytes }),
  );
  if (!isSigned) throw refused('The signature is not of this wallet.');
  if (!(await useSignIn(database, { nonce, expiresAtMs: text.expiresAtMs }))) {
    throw refused('The text was used for a sign-in before. Sign a new one.');
  }
}

/** A fast hash is enough: 256 random bits cannot be found by trying. */
function hashToken(token: string): Buffer {
  return hash('sha256', token, 'buffer');
}

function refused(message: string): ApiError {
  return new ApiError('sign_in_refused', message);
}

export function sessionView(session: Session): SessionObject {
  return {
    id: session.id,
    wallet: session.wallet,
    roles: {
      operator: session.is_operator,
      authority: session.is_authority,
      gateway_operator: session.is_gateway_operator,
      arbiter: session.is_arbiter,
    },
    signed_in_at: session.signed_in_at.toISOString(),
    fresh_until: session.fresh_until.toISOString(),
    expires_at: session.expires_at.toISOString(),
  };
}
