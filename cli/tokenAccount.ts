import type { Keypair, PublicKey } from '@solana/web3.js';
import { Command } from 'commander';
import { tokenAccountCreate } from '../programs/client/token/instructions.ts';
import { readConfig, readTokenBalance } from '../worker/setup/ledgerState.ts';
import { SetupError } from '../worker/setup/setupError.ts';
import { sendTogether } from '../worker/setup/transactions.ts';
import { asCommandError, messageOf } from './terminal/asCommandError.ts';
import { keyOption } from './terminal/keyOption.ts';
import {
  addLedgerOptions,
  type LedgerOptions,
  parseAddress,
  withLedgerNode,
} from './terminal/ledgerNode.ts';

interface Options extends LedgerOptions {
  readonly signer: Keypair;
  readonly owner?: PublicKey;
  readonly stake?: true;
}

/** `svc token-account`: makes the account in which an owner keeps the deployment's tokens. */
export function createTokenAccountCommand(): Command {
  const command = new Command('token-account')
    .description("make an owner's account for the tokens that buy credits, and print its address")
    .requiredOption(
      '--signer <file>',
      'the key that pays; it is the owner by default',
      keyOption('--signer'),
    )
    .option('--owner <address>', 'another owner, who need not sign', parseAddress)
    .option('--stake', 'for the token of stakes instead');
  return addLedgerOptions(command, "the ledger's node").action(async (options: Options) =>
    console.log(await makeTokenAccount(options)),
  );
}

/** @returns its address, also where it was there already */
async function makeTokenAccount(options: Options): Promise<string> {
  const { signer, stake, owner = signer.publicKey } = options;
  return withLedgerNode(options, ({ rpc, connection, addresses }) =>
    asCommandError(async () => {
      const config = await readConfig(connection, addresses);
      const mint = stake ? config.stakeMint : config.creditMint;
      const { address, baseUnits } = await readTokenBalance(connection, mint, owner);
      if (baseUnits === undefined) {
        const create = tokenAccountCreate({ payer: signer.publicKey, owner, mint });
        await sendTogether(rpc, signer, [create]);
      }
      return address.toBase58();
    }, messageOf(SetupError)),
  );
}
