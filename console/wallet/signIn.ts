import { base58, base64 } from '@scure/base';
import {
  SolanaSignIn,
  SolanaSignMessage,
  SolanaSignOffchainMessage,
} from '@solana/wallet-standard-features';
import type { SessionObject } from '../../api/contracts/index.ts';
import { call } from '../data/request.ts';
import { signInObstacle, textFeatureOf } from './obstacles.ts';
import { type Connection, featuresOf } from './wallets.ts';

/**
 * Signs in: the service writes the text, the wallet signs it, and the service compares the bytes.
 *
 * @throws Error when the account cannot sign texts or its owner declines, RequestError when the service
 *   refuses
 */
export async function signIn(connection: Connection): Promise<SessionObject> {
  const { wallet, account } = connection;
  const obstacle = signInObstacle(wallet, account);
  if (obstacle) throw new Error(`${obstacle.what} ${obstacle.remedy}`);
  const { address } = account;
  const { message, input } = await call('POST', '/session/message', { body: { address } });
  const { signed, signature } = await sign(connection, { message, input });
  return call('POST', '/session', {
    body: {
      address,
      nonce: input.nonce,
      signed_message: base64.encode(new Uint8Array(signed)),
      signature: base64.encode(new Uint8Array(signature)),
    },
  });
}

interface Signed {
  readonly signed: ArrayLike<number>;
  readonly signature: ArrayLike<number>;
}

async function sign(
  { wallet, account }: Connection,
  { message, input }: { readonly message: string; readonly input: object },
): Promise<Signed> {
  const features = featuresOf(wallet);
  const feature = textFeatureOf(wallet, account);
  if (feature === SolanaSignOffchainMessage) {
    const requiredSigners = [base58.decode(account.address)];
    const asked = { messageVersion: 1 as const, account, message, requiredSigners };
    const [output] = (await features[feature]?.signOffchainMessage(asked)) ?? [];
    if (output) return { signed: output.signedOffchainMessage, signature: output.signature };
  } else {
    const bytes = { account, message: new TextEncoder().encode(message) };
    const [output] =
      (feature === SolanaSignIn
        ? await features[SolanaSignIn]?.signIn(input)
        : await features[SolanaSignMessage]?.signMessage(bytes)) ?? [];
    if (output) return { signed: output.signedMessage, signature: output.signature };
  }
  throw new Error(`${wallet.name} returned no signature.`);
}
