import type { Keypair } from '@solana/web3.js';
import { z } from 'zod';
import { describeConnectionFault } from '../../common/net/connectionFault.ts';
import { sign } from '../../programs/client/proof.ts';
import { CommandError } from '../terminal/output.ts';

const TIMEOUT_MS = 30_000;

/** What a service says about itself to whoever wants to use it. */
const deployment = z.object({
  public_url: z.url(),
  rpc_url: z.url().nullable(),
  program_id: z.string(),
  gateway: z.string(),
  // Services of before have no word for it.
  loopback_allowed: z.boolean().default(false),
});

export type Deployment = z.infer<typeof deployment>;

const errorBody = z.object({ error: z.object({ message: z.string() }) });
const signInText = z.object({ message: z.string(), input: z.object({ nonce: z.string() }) });

interface Request {
  readonly body?: object;
  readonly cookie?: string;
  readonly origin?: string;
}

/** @throws CommandError with the service's own words, or that it cannot be reached */
async function request(service: URL, route: string, { body, cookie, origin }: Request = {}) {
  const [method = 'GET', path] = route.split(' ');
  const url = `${service.href.replace(/\/+$/, '')}/console/api${path}`;
  const response = await fetch(url, {
    method,
    // Elsewhere it would be another service.
    redirect: 'error',
    signal: AbortSignal.timeout(TIMEOUT_MS),
    headers: {
      ...(method !== 'GET' && { 'content-type': 'application/json' }),
      ...(cookie && { cookie }),
      ...(origin && { origin }),
    },
    ...(body && { body: JSON.stringify(body) }),
  }).catch((cause: unknown) => {
    throw new CommandError(
      `The service at ${service.host} cannot be reached: ${describeConnectionFault(cause)}.`,
      { cause },
    );
  });
  const answer: unknown = await response.json().catch(() => undefined);
  if (response.ok) return { answer, cookies: response.headers.getSetCookie() };
  const refusal = errorBody.safeParse(answer).data?.error.message;
  throw new CommandError(
    refusal ?? `The service at ${service.host} answered with status ${response.status}.`,
  );
}

/** @throws CommandError */
export async function readDeployment(service: URL): Promise<Deployment> {
  const { answer } = await request(service, 'GET /config');
  return parse(deployment, answer, service);
}

/** What a signed-in wallet may do in the web app. */
type CallService = (route: string, body?: object) => Promise<unknown>;

/**
 * Signs in with the wallet, as the web app does, for as long as `work` takes.
 *
 * @throws CommandError when the service refuses, or wants something else signed than a sign-in to it
 */
export async function withSession<Result>(
  service: URL,
  wallet: Keypair,
  work: (call: CallService) => Promise<Result>,
): Promise<Result> {
  const { origin, host } = new URL((await readDeployment(service)).public_url);
  const address = wallet.publicKey.toBase58();
  const asked = await request(service, 'POST /session/message', { body: { address }, origin });
  const { message, input } = parse(signInText, asked.answer, service);
  if (host !== service.host || !isSignIn(message, { host, address })) {
    throw new CommandError(
      `The service at ${service.host} wants another text signed than a sign-in to it. Nothing was signed.`,
    );
  }
  const signed = Buffer.from(message, 'utf8');
  const { cookies } = await request(service, 'POST /session', {
    origin,
    body: {
      address,
      nonce: input.nonce,
      signed_message: signed.toString('base64'),
      signature: Buffer.from(sign(signed, wallet)).toString('base64'),
    },
  });
  const cookie = cookies[0]?.split(';')[0] ?? '';
  const call: CallService = async (route, body) =>
    (await request(service, route, { cookie, origin, ...(body && { body }) })).answer;
  try {
    return await work(call);
  } finally {
    // It ends by itself in any case.
    await call('DELETE /session').catch(() => undefined);
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
