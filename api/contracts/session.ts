import { z } from 'zod';
import { route } from './route.ts';
import { walletAddress as address, bodyOf, done, ledgerAddress, time } from './values.ts';

const bytes = (length: number) =>
  z.base64({ error: 'must be base64' }).max(length, { error: 'is too long' });

const signInRequest = bodyOf({ address });

/** The text to sign, also as the input of a wallet's `signIn`. */
const signInMessage = z.object({
  message: z
    .string()
    .describe('The whole text. A wallet without `signIn` signs its UTF-8 bytes by `signMessage`.'),
  input: z
    .object({
      domain: z.string(),
      address: ledgerAddress,
      statement: z.string(),
      uri: z.string(),
      version: z.literal('1'),
      chainId: z.string(),
      nonce: z.string(),
      issuedAt: time,
      expirationTime: time,
    })
    .describe("The input of the wallet's `signIn`, which writes the same text of it."),
});

export type SignInMessage = z.infer<typeof signInMessage>;

const signIn = bodyOf({
  address,
  nonce: z
    .string({ error: 'must be a string' })
    .max(200)
    .describe('`input.nonce` of the message that was signed.'),
  signed_message: bytes(8_192).describe(
    "The bytes that the wallet signed, base64: the text, or a hardware wallet's envelope around it.",
  ),
  signature: bytes(128).describe('Its ed25519 signature, base64.'),
});

/** The roles of the signed-in wallet. Each opens a part of the pages. */
const roles = z.object({
  operator: z.boolean().describe('Of what is not on the ledger: API keys.'),
  authority: z.boolean().describe("The program's authority: pauses and models."),
  gateway_operator: z.boolean().describe("The gateway's cold key: its stop flag."),
  arbiter: z.boolean(),
});

/** The session of the cookie that was sent. */
const sessionObject = z.object({
  id: z.string().describe('Names the session in the list; opens nothing.'),
  wallet: ledgerAddress,
  roles,
  signed_in_at: time,
  fresh_until: time.describe('Until then keys and secrets can be shown without another sign-in.'),
  expires_at: time.describe('12 hours after the last use, at most 7 days after the sign-in.'),
});

export type SessionObject = z.infer<typeof sessionObject>;

const currentSession = z.object({ session: sessionObject.nullable() });

const sessionList = z.object({
  object: z.literal('list'),
  data: z.array(
    z.object({
      id: z.string(),
      is_current: z.boolean(),
      signed_in_at: time,
      last_used_at: time,
      expires_at: time,
      browser: z.string().describe('The user agent that signed in: text of its own choice.'),
    }),
  ),
});

export type SessionList = z.infer<typeof sessionList>;

/** What the pages have to know before a sign-in. */
const consoleConfig = z.object({
  public_url: z.string().describe('The root of the API; no slash at its end.'),
  rpc_url: z.string().nullable().describe("A ledger's node for browsers; null: none is set."),
  chain: z.string().describe('As wallets name it, such as `solana:mainnet`.'),
  genesis_hash: z.string().nullable().describe('Null until the mirror knows its ledger.'),
  program_id: ledgerAddress,
  gateway: ledgerAddress,
  commitment: z.enum(['confirmed', 'finalized']),
  loopback_allowed: z
    .boolean()
    .describe('Whether workers and webhooks may be on its own machine: for development only.'),
  development_wallet_url: z
    .string()
    .nullable()
    .describe('Where the development wallet signs; null everywhere else.'),
});

export type ConsoleConfig = z.infer<typeof consoleConfig>;

export const sessionRoutes = {
  getConfig: route('GET', '/config', ['public'], {
    summary: 'what the pages have to know of this deployment',
    answer: consoleConfig,
  }),
  postMessage: route('POST', '/session/message', ['public'], {
    summary: 'the text to sign for a sign-in, good for five minutes',
    body: signInRequest,
    answer: signInMessage,
  }),
  postSession: route('POST', '/session', ['public'], {
    summary: 'sign in; the session is a cookie',
    body: signIn,
    answer: sessionObject,
  }),
  getSession: route('GET', '/session', ['public'], {
    readsSession: true,
    summary: 'the session of the cookie, or null',
    answer: currentSession,
  }),
  deleteSession: route('DELETE', '/session', ['session'], { summary: 'sign out', answer: done }),
  getSessions: route('GET', '/sessions', ['session'], {
    summary: "the wallet's sessions, newest first",
    answer: sessionList,
  }),
  deleteSessionOf: route('DELETE', '/sessions/:session_id', ['session'], {
    summary: 'end one of them',
    answer: done,
  }),
};

/** The wallets of a development ledger, which sign for our pages. Another origin gets nothing. */
const developmentAccounts = z.object({
  accounts: z.array(
    z.object({
      name: z.string().describe('What it is on the ledger, such as `wallet` or `arbiter`.'),
      address: z.string(),
    }),
  ),
});

export type DevelopmentAccounts = z.infer<typeof developmentAccounts>;

export const developmentSignRequest = z.object({
  address: z.string().max(44),
  kind: z.enum(['message', 'transaction']),
  bytes: z.base64().max(16_384).describe('The message; or the transaction in its wire form.'),
});

export interface DevelopmentSigned {
  /** Base64: a message's signature, or a transaction with this account's signature in it. */
  signed: string;
}
