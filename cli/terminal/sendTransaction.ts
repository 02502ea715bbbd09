import type { Rpc } from '../../programs/client/rpc/rpc.ts';
import { LedgerUnavailableError, type Refusal } from '../../programs/client/sender/index.ts';
import { sendOnce } from '../../programs/client/sender/sendOnce.ts';
import { asCommandError } from './asCommandError.ts';
import { CommandError } from './output.ts';

/**
 * Sends one transaction.
 *
 * @param describe says in a sentence why the ledger refused it
 * @returns its signature, once it is confirmed
 * @throws CommandError which says whether anything was changed, as far as that is known
 */
export async function sendTransaction(
  rpc: Rpc,
  sending: Parameters<typeof sendOnce>[1],
  describe: (refusal: Refusal) => Promise<string>,
): Promise<string> {
  const outcome = await asCommandError(
    () => sendOnce(rpc, sending),
    (error) => {
      if (!(error instanceof LedgerUnavailableError)) return undefined;
      const advice = error.signature && `Look up ${error.signature} before sending it again.`;
      return `${error.message}. ${advice ?? 'Nothing was sent.'}`;
    },
  );
  if (outcome.status === 'landed') return outcome.signature;
  const why =
    outcome.status === 'failed'
      ? await describe(outcome.error)
      : 'It expired: the ledger dropped it.';
  throw new CommandError(`${why} Nothing was changed.`);
}
