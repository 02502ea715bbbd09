import type { Keypair } from '@solana/web3.js';
import { parseKeypair } from '../../common/ledgerSettings.ts';
import { asCommandError } from './asCommandError.ts';

/**
 * Reads the key of an option such as `--signer`. commander's own error would quote the value, which
 * may be the key itself.
 */
export function keyOption(option: string): (text: string) => Keypair {
  return (text) =>
    asCommandError(
      () => parseKeypair(text),
      ({ message }) => `${option} ${message}.`,
    );
}
