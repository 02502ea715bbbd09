import { creditsNumber } from '../../../common/format.ts';
import type { EventOf } from '../../fold/change.ts';
import { jobIdOf } from './jobs.ts';
import type { Describe, Facts, Notice } from './occurrence.ts';

/**
 * A worker as it is at the end of the transaction that registers it: registration, stake and
 * hosting are separate instructions, and mostly travel together.
 */
export const describeWorkerRegistered: Describe<'WorkerRegistered'> = (registration, facts) => {
  const { data, signature, slot } = registration;
  let { endpoint } = data;
  let stakeTokens = '0';
  const models = new Set<string>();
  for (const event of eventsOfWorker(registration, facts)) {
    switch (event.name) {
      case 'WorkerUpdated':
        endpoint = event.data.endpoint;
        break;
      case 'WorkerHosted':
        models.add(nameOf(event.data.model, facts));
        break;
      case 'WorkerUnhosted':
        models.delete(nameOf(event.data.model, facts));
        break;
      case 'StakeDeposited':
      case 'StakeUnlocked':
        stakeTokens = event.data.stakeTokens;
        break;
    }
  }
  return {
    kind: 'worker.registered',
    wallet: null,
    data: {
      worker_address: data.worker,
      endpoint,
      models: [...models],
      stake_token: creditsNumber(BigInt(stakeTokens)),
      tx: signature,
      chain_slot: Number(slot),
    },
  };
};

/** A model's id; its address while the mirror lacks the transaction that made it. */
function nameOf(model: string, { modelIds }: Facts): string {
  return modelIds.get(model) ?? model;
}

function eventsOfWorker({ data, signature }: EventOf<'WorkerRegistered'>, { events }: Facts) {
  return events.filter(
    (event) =>
      event.signature === signature && 'worker' in event.data && event.data.worker === data.worker,
  );
}

/** Of a verdict that took stake, which the program takes for a fraudulent proof alone. */
export function workerSlashed({ data, signature }: EventOf<'DisputeResolved'>): Notice {
  return {
    kind: 'worker.slashed',
    wallet: null,
    data: {
      worker_address: data.worker,
      slash_amount_token: creditsNumber(BigInt(data.slashedTokens)),
      slash_tx: signature,
      reason: 'fraudulent_proof',
      related_job_id: jobIdOf(data),
    },
  };
}
