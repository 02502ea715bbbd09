import { base58 } from '@scure/base';
import type { Keypair, PublicKey } from '@solana/web3.js';
import { type Command, Option } from 'commander';

import { sign } from '../../programs/client/proof.ts';
import { asCommandError } from '../terminal/asCommandError.ts';
import { ask } from '../terminal/confirm.ts';
import { keyOption } from '../terminal/keyOption.ts';
import { parseAddress } from '../terminal/ledgerNode.ts';
import { CommandError } from '../terminal/output.ts';
import type { WalletSigner } from './service.ts';
import { parseServiceUrl } from './target.ts';

export function addSignInOptions(command: Command): Command {
  const key = keyOption('--signer');
  return command
    .requiredOption('--service <url>', 'the service, to which the wallet signs in', parseServiceUrl)
    .option('--signer <file>', 'the key of the wallet', (text: string) => keySigner(key(text)))
    .addOption(
      new Option('--hardware-wallet <address>', 'a wallet that signs elsewhere, in place of a key')
        .argParser((text) => askedSigner(parseAddress(text)))
        .conflicts('signer'),
    )
    .hook('preAction', () => {
      const { signer, hardwareWallet = signer } = command.opts();
      if (!hardwareWallet) throw new CommandError('Say who signs: --signer or --hardware-wallet.');
      command.setOptionValue('signer', hardwareWallet);
    });
}

function keySigner(key: Keypair): WalletSigner {
  return { address: key.publicKey.toBase58(), sign: (text) => sign(Buffer.from(text), key) };
}

/** Asks at the terminal for a signature that was made elsewhere. */
function askedSigner(wallet: PublicKey): WalletSigner {
  const address = wallet.toBase58();
  return {
    address,
    async sign(text) {
      const quoted = `'${text.replaceAll("'", "'\\''")}'`;
      const answer = await ask(
        `Have ${address} sign this text, within five minutes:\n\nsolana sign-offchain-message --keypair usb://ledger ${quoted}\n\nThe signature, in base58: `,
      );
      return asCommandError(
        () => base58.decode(answer),
        () => 'That is no signature in base58. Nothing was sent.',
      );
    },
  };
}
