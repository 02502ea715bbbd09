import { fetchGateway } from '../../programs/client/accounts.ts';
import { askNode, type LedgerContext } from './context.ts';

/**
 * Tells the log at the start when the ledger will refuse every lock of this process: its key is no
 * signer of the Gateway, or there is no such Gateway under this program. It is not an error to go
 * on: the operator may be about to set it right on the ledger.
 */
export async function checkSigner(context: LedgerContext): Promise<void> {
  const { connection, commitment, addresses, gateway: address, signer, logger } = context;
  const { programId } = addresses;
  const named = { gateway: address.toBase58(), program: programId.toBase58() };
  try {
    const gateway = await askNode(() =>
      fetchGateway(connection, address, { commitment, programId }),
    );
    if (!gateway) {
      logger.error({ msg: 'Found no Gateway at SVC_GATEWAY', ...named });
    } else if (!gateway.signers.some((key) => key.equals(signer.publicKey))) {
      const key = signer.publicKey.toBase58();
      logger.error({ msg: 'Found that SVC_SIGNER_KEY is no signer of the Gateway', key, ...named });
    }
  } catch (error) {
    logger.warn({ msg: 'Could not look at the Gateway', ...named, err: error });
  }
}
