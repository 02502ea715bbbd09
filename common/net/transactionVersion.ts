import { type PublicKey, SystemProgram } from '@solana/web3.js';
import type { Rpc } from '../../programs/client/rpc/rpc.ts';
import { isUnableToPay, refusalOf } from '../../programs/client/sender/sendResult.ts';
import { simulate } from '../../programs/client/sender/simulate.ts';
import type { SentVersion } from '../../programs/client/sender/transaction.ts';
import type { Logger } from '../logger.ts';
import { systemTime, type Time } from '../wait.ts';
import { askAtStart } from './commitment.ts';

/**
 * The version of the transactions that a process sends: as SVC_TRANSACTION_VERSION says. With `auto`
 * it is version 1, which carries three times as much, where the node takes that. One log line has
 * the choice and its reason.
 *
 * @param options.payer pays for transactions
 */
export async function chooseVersion(options: {
  chosen: 'auto' | SentVersion;
  rpc: Rpc;
  payer: PublicKey;
  logger: Pick<Logger, 'info'>;
  time?: Time;
}): Promise<SentVersion> {
  const { chosen, rpc, payer, logger, time = systemTime } = options;
  const [version, because] =
    chosen === 'auto'
      ? await askNode(rpc, payer, time)
      : ([chosen, 'SVC_TRANSACTION_VERSION says so'] as const);
  logger.info({ msg: 'Chose the version of transactions', version, because });
  return version;
}

async function askNode(
  rpc: Rpc,
  payer: PublicKey,
  time: Time,
): Promise<readonly [SentVersion, string]> {
  try {
    const takes = await askAtStart(() => takesVersionOne(rpc, payer), time);
    if (takes === undefined) return ['legacy', 'the node did not say whether it takes version 1'];
    return takes ? [1, 'the node takes it'] : ['legacy', 'the ledger does not take version 1 yet'];
  } catch {
    return ['legacy', 'the node does not know version 1'];
  }
}

/** Far more than a transfer needs. */
const CONFIG = { computeUnitLimit: 10_000, loadedAccountsDataSizeLimit: 65_536 };

/**
 * A payer that cannot pay yet makes no difference: the version is looked at before.
 *
 * @throws RpcError when the node cannot read such a transaction
 */
async function takesVersionOne(rpc: Rpc, payer: PublicKey): Promise<boolean> {
  const transfer = SystemProgram.transfer({ fromPubkey: payer, toPubkey: payer, lamports: 0 });
  const asked = { payer, instructions: [transfer], watched: [], commitment: 'confirmed' } as const;
  const { err } = await simulate(rpc, { ...asked, config: CONFIG });
  return err === null || isUnableToPay(refusalOf(err), true);
}
