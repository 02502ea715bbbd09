import type { Commitment, Connection } from '@solana/web3.js';

/** Tells over the websocket that a signature's status is worth reading now. Only ever a hint. */
export interface SignatureHints {
  /** @returns ends the watch */
  watch(signature: string, onHint: () => void): () => void;
}

export function createSignatureHints(
  connection: Connection,
  commitment: Commitment,
): SignatureHints {
  return {
    watch(signature, onHint) {
      let done = false;
      const id = connection.onSignature(
        signature,
        () => {
          done = true;
          onHint();
        },
        commitment,
      );
      return () => {
        // A subscription ends by itself with its one notification.
        if (!done) void connection.removeSignatureListener(id);
        done = true;
      };
    },
  };
}
