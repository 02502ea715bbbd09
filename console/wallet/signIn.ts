import { base64 } from '@scure/base';
import { SolanaSignIn, SolanaSignMessage } from '@solana/wallet-standard-features';
import type { SessionObject } from '../../api/console/contracts/index.ts';
import { call } from '../data/request.ts';
import { type Connection, featuresOf } from './wallets.ts';

/**
 * Signs in: the service writes the text, the wallet signs it, and the service compares the bytes.
 *
 * @throws Error when the wallet's owner declines, RequestError when the service refuses
 */
export async function signIn(connection: Connection): Promise<SessionObject> {
  const { address } = connection.account;
  const { message, input } = await call('POST', '/session/message', { body: { address } });
  const { signedMessage, signature } = await sign(connection, { message, input });
  return call('POST', '/session', {
    body: {
      address,
      nonce: input.nonce,
      signed_message: base64.encode(signedMessage),
      signature: base64.encode(signature),
    },
  });
}

async function sign(
  { wallet, account }: Connection,
  text: { readonly message: string; readonly input: object },
): Promise<{ signedMessage: Uint8Array; signature: Uint8Array }> {
  const { [SolanaSignIn]: own, [SolanaSignMessage]: plain } = featuresOf(wallet);
  const [output] = own
    ? await own.signIn(text.input)
    : ((await plain?.signMessage({ account, message: new TextEncoder().encode(text.message) })) ??
      []);
  if (output === undefined) throw new Error(`${wallet.name} returned no signature.`);
  const { signedMessage, signature } = output;
  return { signedMessage: new Uint8Array(signedMessage), signature: new Uint8Array(signature) };
}
