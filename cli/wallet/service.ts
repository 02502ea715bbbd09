import { z } from 'zod';
import { describeConnectionFault } from '../../common/net/connectionFault.ts';
import { CommandError } from '../terminal/output.ts';

const TIMEOUT_MS = 30_000;

/** What a service says about itself to its clients. */
const deployment = z.object({
  public_url: z.url(),
  rpc_url: z.url().nullable(),
  program_id: z.string(),
  gateway: z.string(),
  // Absent from the answers of earlier releases.
  loopback_allowed: z.boolean().default(false),
});

export type Deployment = z.infer<typeof deployment>;

const errorBody = z.object({ error: z.object({ message: z.string() }) });
const signInText = z.object({ message: z.string(), input: z.object({ nonce: z.string() }) });

/** The service refuses, in its own words, or cannot be reached. */
export class ServiceError extends CommandError {
  /** Of its answer; undefined without one. */
  readonly status: number | undefined;

  constructor(message: string, { status, cause }: { status?: number; cause?: unknown } = {}) {
    super(message, { cause });
    this.status = status;
  }
}

interface Request {
  readonly body?: object;
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal;
}

/** @returns an answer that is no refusal @throws ServiceError */
async function send(
  service: URL,
  route: string,
  { body, headers, signal = AbortSignal.timeout(TIMEOUT_MS) }: Request = {},
): Promise<Response> {
  const [method = 'GET', path] = route.split(' ');
  const url = `${service.href.replace(/\/+$/, '')}/console/api${path}`;
  const response = await fetch(url, {
    method,
    // Elsewhere it would be another service.
    redirect: 'error',
    signal,
    headers: { ...(method !== 'GET' && { 'content-type': 'application/json' }), ...headers },
    ...(body && { body: JSON.stringify(body) }),
  }).catch((cause: unknown) => {
    throw new ServiceError(
      `The service at ${service.host} cannot be reached: ${describeConnectionFault(cause)}.`,
      { cause },
    );
  });
  if (response.ok) return response;
  const { status } = response;
  const answer: unknown = await response.json().catch(() => undefined);
  const refusal = errorBody.safeParse(answer).data?.error.message;
  throw new ServiceError(
    refusal ?? `The service at ${service.host} answered with status ${status}.`,
    { status },
  );
}

/** @throws ServiceError */
async function request(service: URL, route: string, asked: Request = {}) {
  const response = await send(service, route, asked);
  const answer: unknown = await response.json().catch(() => undefined);
  return { answer, cookies: response.headers.getSetCookie() };
}

/** @throws CommandError */
export async function readDeployment(service: URL): Promise<Deployment> {
  const { answer } = await request(service, 'GET /config');
  return parse(deployment, answer, service);
}

/** Signs a text for a wallet. */
export interface WalletSigner {
  readonly address: string;
  /** @returns an ed25519 signature of the text, or of an off-chain envelope around it */
  sign(text: string): Uint8Array | Promise<Uint8Array>;
}

/** Which wallet signs in where. */
export interface SignIn {
  readonly service: URL;
  readonly signer: WalletSigner;
}

/** What a signed-in wallet may do in the web app. */
export interface Session {
  /** @returns the JSON answer @throws ServiceError */
  call(route: string, body?: object): Promise<unknown>;
  /** @returns an answer that goes on until `signal` aborts @throws ServiceError */
  open(
    route: string,
    options: { headers: Readonly<Record<string, string>>; signal: AbortSignal },
  ): Promise<Response>;
}

/**
 * Signs in with the wallet, as the web app does, for as long as `work` takes.
 *
 * @throws CommandError when the service refuses, or wants something else signed than a sign-in to it
 */
export async function withSession<Result>(
  { service, signer }: SignIn,
  work: (session: Session) => Promise<Result>,
): Promise<Result> {
  const { origin, host } = new URL((await readDeployment(service)).public_url);
  const { address } = signer;
  const headers = { origin };
  const asked = await request(service, 'POST /session/message', { body: { address }, headers });
  const { message, input } = parse(signInText, asked.answer, service);
  if (host !== service.host || !isSignIn(message, { host, address })) {
    throw new CommandError(
      `The service at ${service.host} wants another text signed than a sign-in to it. Nothing was signed.`,
    );
  }
  const signature = await signer.sign(message);
  const { cookies } = await request(service, 'POST /session', {
    headers,
    body: {
      address,
      nonce: input.nonce,
      signed_message: Buffer.from(message).toString('base64'),
      signature: Buffer.from(signature).toString('base64'),
    },
  });
  const signedIn = { origin, cookie: cookies[0]?.split(';')[0] ?? '' };
  const session: Session = {
    call: async (route, body) =>
      (await request(service, route, { headers: signedIn, ...(body && { body }) })).answer,
    open: (route, { headers: more, signal }) =>
      send(service, route, { headers: { ...signedIn, ...more }, signal }),
  };
  try {
    return await work(session);
  } finally {
    // It ends by itself in any case.
    await session.call('DELETE /session').catch(() => undefined);
  }
}

const PRINTABLE = /^[\n\x20-\x7e]+$/;

/**
 * Whether a text signs this wallet in to this host. Printable text is never a transaction, since one
 * holds its signers' keys as bytes.
 */
function isSignIn(message: string, { host, address }: { host: string; address: string }): boolean {
  const [first, second] = message.split('\n');
  return (
    PRINTABLE.test(message) &&
    first === `${host} wants you to sign in with your Solana account:` &&
    second === address
  );
}

function parse<Schema extends z.ZodType>(
  schema: Schema,
  answer: unknown,
  service: URL,
): z.infer<Schema> {
  const parsed = schema.safeParse(answer);
  if (parsed.success) return parsed.data;
  throw new CommandError(`The service at ${service.host} did not answer as this release expects.`);
}
