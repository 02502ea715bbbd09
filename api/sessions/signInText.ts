import { createHmac, hkdfSync, randomBytes, timingSafeEqual } from 'node:crypto';
import type { SignInMessage } from '../contracts/session.ts';

/** How long a text can be used for a sign-in. */
const LIFETIME_MS = 300_000;
const STATEMENT =
  'Sign in to manage keys, webhooks and credits. This signs a text only: it sends no transaction and moves no credits.';
const RANDOM_BYTES = 8;
const TIME_BYTES = 6;
const MAC_BYTES = 16;
const NONCE = new RegExp(`^[0-9a-f]{${2 * (RANDOM_BYTES + TIME_BYTES + MAC_BYTES)}}$`);

/** A text for one wallet, with its expiry. */
interface SignInText extends SignInMessage {
  expiresAtMs: number;
}

export type SignInTexts = ReturnType<typeof createSignInTexts>;

/**
 * Writes the texts of Sign-In-With-Solana. Each is made of its wallet and its nonce alone: the nonce
 * holds the time and our seal of both. So nothing that a client sends is ever parsed as part of it,
 * and nothing is stored before a sign-in is used.
 *
 * @param options.secrets each seals nonces by a key derived from it: the first makes new ones
 * @param options.publicUrl where the pages are
 * @param options.chain what wallets call the ledger, such as `solana:mainnet`
 */
export function createSignInTexts(options: {
  secrets: readonly Uint8Array[];
  publicUrl: string;
  chain: () => Promise<string>;
  nowMs: () => number;
}) {
  const { publicUrl, chain, nowMs } = options;
  const { host, origin } = new URL(publicUrl);
  const seals = options.secrets.map((secret) =>
    Buffer.from(hkdfSync('sha256', secret, '', 'svc sign-in nonce', 32)),
  );

  const macOf = (seal: Uint8Array, address: string, begun: Uint8Array): Buffer =>
    createHmac('sha256', seal).update(begun).update(address).digest().subarray(0, MAC_BYTES);

  async function textOf(address: string, nonce: string, issuedAtMs: number): Promise<SignInText> {
    const expiresAtMs = issuedAtMs + LIFETIME_MS;
    const input = {
      domain: host,
      address,
      statement: STATEMENT,
      uri: origin,
      version: '1' as const,
      chainId: await chain(),
      nonce,
      issuedAt: new Date(issuedAtMs).toISOString(),
      expirationTime: new Date(expiresAtMs).toISOString(),
    };
    return { input, message: render(input), expiresAtMs };
  }

  return {
    /** A new text for this wallet to sign. */
    async write(address: string): Promise<SignInText> {
      const issuedAtMs = nowMs();
      const begun = Buffer.alloc(RANDOM_BYTES + TIME_BYTES);
      randomBytes(RANDOM_BYTES).copy(begun);
      begun.writeUIntBE(issuedAtMs, RANDOM_BYTES, TIME_BYTES);
      const mac = macOf(seals[0] as Buffer, address, begun);
      return textOf(address, Buffer.concat([begun, mac]).toString('hex'), issuedAtMs);
    },
    /**
     * Makes the text of a nonce again.
     *
     * @returns undefined where we made no such nonce for this wallet
     */
    async restore(address: string, nonce: string): Promise<SignInText | undefined> {
      if (!NONCE.test(nonce)) return undefined;
      const bytes = Buffer.from(nonce, 'hex');
      const begun = bytes.subarray(0, RANDOM_BYTES + TIME_BYTES);
      const mac = bytes.subarray(RANDOM_BYTES + TIME_BYTES);
      const isOurs = seals.some((seal) => timingSafeEqual(mac, macOf(seal, address, begun)));
      if (!isOurs) return undefined;
      return textOf(address, nonce, begun.readUIntBE(RANDOM_BYTES, TIME_BYTES));
    },
  };
}

/** The text in the wallets' form, byte for byte. */
function render(input: SignInMessage['input']): string {
  return `${input.domain} wants you to sign in with your Solana account:
${input.address}

${input.statement}

URI: ${input.uri}
Version: ${input.version}
Chain ID: ${input.chainId}
Nonce: ${input.nonce}
Issued At: ${input.issuedAt}
Expiration Time: ${input.expirationTime}`;
}
