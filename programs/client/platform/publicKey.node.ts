/** The key type of this client on Node. Browsers get `publicKey.browser.ts` in its place. */
export { PublicKey } from '@solana/web3.js';
