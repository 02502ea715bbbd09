import type { TokenCounts } from '../../runtime/tokenizers/tokenCounts.ts';
import type { ChatCompletionRequest } from '../contracts/chatCompletion.ts';
import { ApiError, ClientLeftError, serviceUnavailable } from '../errors.ts';
import { type Escrow, type JobDraft, type LockedJob, PriceChangedError } from '../ledger/escrow.ts';
import type { Slot } from '../routing/slots.ts';
import type { WorkerDirectory } from '../routing/workerDirectory.ts';
import { type Catalog, isRetired } from '../services/catalog.ts';
import type { Payer } from '../statements/keyAndAccount.ts';
import type { ModelRow } from '../statements/models.ts';
import { assertAffordable, type Quote, quote } from './quote.ts';

/** How long a request may wait for a worker's slot before it is told to come back. */
const SLOT_WAIT_MS = 2_000;
/** An error repeats no more of what was sent. */
const MODEL_ID_SHOWN_MAX = 256;

export interface AdmissionServices {
  catalog: Catalog;
  directory: WorkerDirectory;
  escrow: Escrow;
  tokens: TokenCounts;
  nowSeconds: () => bigint;
}

/** A request whose credits are locked and whose first worker is reserved. */
export interface Admitted {
  job: LockedJob;
  slot: Slot;
}

/**
 * Everything that can refuse a request, in the order in which clients are told, and then the lock:
 * nothing is locked for a request that could have been refused before.
 *
 * @throws ApiError; of these LockUndecidedError alone leaves open whether there is a job
 * @throws ClientLeftError
 * @throws LedgerUnavailableError, which leaves it open too
 */
export async function admit(
  services: AdmissionServices,
  options: {
    payer: Payer;
    request: ChatCompletionRequest;
    draft: JobDraft;
    clientGone: AbortSignal;
  },
): Promise<Admitted> {
  const { directory } = services;
  const { payer, request, draft, clientGone } = options;
  const quoted = await quote(findModel(services, request.model), request, services.tokens);
  assertAffordable(quoted, payer.available_credits ?? 0n);
  const slot = await directory.reserve({
    modelAddress: quoted.model.address,
    except: new Set(),
    waitMs: SLOT_WAIT_MS,
    signal: clientGone,
  });
  if (!slot) throw clientGone.aborted ? new ClientLeftError() : noWorkers(directory, quoted.model);
  try {
    return { slot, job: await lockJob(services, { payer, request, quoted, draft }) };
  } catch (error) {
    slot.release();
    throw error;
  }
}

function findModel(services: AdmissionServices, modelId: string): ModelRow {
  const model = services.catalog.find(modelId);
  if (model && !isRetired(model, services.nowSeconds())) return model;
  const shown = modelId.length > MODEL_ID_SHOWN_MAX ? 'an id that long' : `the id '${modelId}'`;
  throw new ApiError('model_not_found', `No model has ${shown}.`, { param: 'model' });
}

/** Locks at the quoted price; quotes once more when it has changed meanwhile. */
async function lockJob(
  services: AdmissionServices,
  options: { payer: Payer; request: ChatCompletionRequest; quoted: Quote; draft: JobDraft },
): Promise<LockedJob> {
  const { escrow, catalog, tokens } = services;
  const { payer, request, quoted, draft } = options;
  try {
    return await escrow.lock(payer, quoted, draft);
  } catch (error) {
    if (!(error instanceof PriceChangedError)) throw error;
  }
  await catalog.refresh();
  try {
    const requoted = await quote(findModel(services, request.model), request, tokens);
    return await escrow.lock(payer, requoted, draft);
  } catch (error) {
    if (!(error instanceof PriceChangedError)) throw error;
    throw serviceUnavailable('The price is changing; try again.', error);
  }
}

function noWorkers(directory: WorkerDirectory, model: ModelRow): ApiError {
  const isBusy = directory.active(model.address).length > 0;
  const retryAfterSeconds = directory.retryAfterSeconds(model.address);
  return new ApiError(
    'no_workers_available',
    isBusy ? `All workers of ${model.id} are busy.` : `No worker of ${model.id} can be reached.`,
    { retryAfterSeconds, details: { model: model.id, retry_after: retryAfterSeconds } },
  );
}
