import type { PublicKey } from '@solana/web3.js';

/** No transaction begins with this, so that an envelope's signature never fits a transaction. */
const SIGNING_DOMAIN = Buffer.from('\xffsolana offchain', 'latin1');
const APPLICATION_DOMAIN_BYTES = 32;
const [ASCII, UTF8] = [0, 1];

/**
 * What a wallet may have signed when it was asked to sign a text: the text, or one of the off-chain
 * envelopes around it. Hardware wallets sign only envelopes. Each form is written here in full, so
 * that no bytes of a client are ever parsed.
 *
 * @param text of printable ASCII and line feeds, at most 65,535 bytes
 * @param wallet the one signer that an envelope may name
 * @param application what an envelope may name as the asker; most wallets leave it out
 */
export function signedForms(text: string, wallet: PublicKey, application: string): Buffer[] {
  const body = Buffer.from(text);
  const signer = [Buffer.of(1), wallet.toBytes()];
  const length = Buffer.alloc(2);
  length.writeUInt16LE(body.length);
  const envelope = (version: number, ...parts: Uint8Array[]): Buffer =>
    Buffer.concat([SIGNING_DOMAIN, Buffer.of(version), ...parts, body]);

  const named = Buffer.alloc(APPLICATION_DOMAIN_BYTES);
  named.write(application);
  const wide = [Buffer.alloc(APPLICATION_DOMAIN_BYTES), named].flatMap((domain) =>
    // By the proposal a line feed is not ASCII. Ledger devices count it as ASCII, and show the text.
    [ASCII, UTF8].map((format) => envelope(0, domain, Buffer.of(format), ...signer, length)),
  );
  // Older devices, and `solana sign-offchain-message`, mark it as UTF-8.
  const short = envelope(0, Buffer.of(UTF8), length);
  // Devices older than the final version 1 put the length in front of the text.
  return [body, short, ...wide, envelope(1, ...signer), envelope(1, ...signer, length)];
}
