import type { PublicKey } from '@solana/web3.js';
import type { Gateway, Model, Worker } from './types.ts';

/** The printable parts of a Model, which the account keeps in zero-padded fields. */
export function modelText(model: Model): { id: string; label: string; originator: string } {
  return {
    id: text(model.id, model.idLen),
    label: text(model.label, model.labelLen),
    originator: text(model.originator, model.originatorLen),
  };
}

/** The address at which a worker takes jobs. */
export function workerEndpoint(worker: Worker): string {
  return text(worker.endpoint, worker.endpointLen);
}

/** The Model addresses that a worker declares to host. */
export function workerModels(worker: Worker): PublicKey[] {
  return worker.models.slice(0, worker.modelsLen);
}

/** The keys that may act for a Gateway now. */
export function gatewaySigners(gateway: Gateway): PublicKey[] {
  return gateway.signers.slice(0, gateway.signersLen);
}

/** The program stores printable ASCII only. */
function text(bytes: Uint8Array, length: number): string {
  return Buffer.from(bytes.subarray(0, length)).toString('ascii');
}
