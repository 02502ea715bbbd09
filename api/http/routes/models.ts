import type { RequestHandler } from 'express';
import { ApiError } from '../../contracts/errors.ts';
import type { ModelList, ModelObject } from '../../contracts/model.ts';
import { modelView } from '../../contracts/views.ts';
import { type Catalog, isRetired } from '../../jobs/catalog.ts';
import type { ModelCards } from '../../models/cards.ts';
import type { ModelRow } from '../../sql/workers.ts';
import type { WorkerDirectory } from '../../workers/directory.ts';

export interface ModelServices {
  catalog: Catalog;
  directory: WorkerDirectory;
  cards: ModelCards;
  nowSeconds: () => bigint;
}

/** @returns what shows a model with its card and with what is observed of it */
export async function modelViewer({
  catalog,
  directory,
  cards,
}: Omit<ModelServices, 'nowSeconds'>): Promise<(model: ModelRow) => ModelObject> {
  const medians = await catalog.medianLatencies();
  return (model) =>
    modelView(model, {
      activeWorkers: directory.active(model.address).length,
      // An active worker has answered a probe: a model is never listed without an observation.
      medianLatencyMs: medians.get(model.id) ?? directory.startProbeMs(model) ?? 0,
      card: cards.get(model.card_hash ?? ''),
    });
}

/** The models that a request can name, and that at least one worker hosts. */
export async function listedModels(services: ModelServices): Promise<ModelObject[]> {
  const view = await modelViewer(services);
  const nowSeconds = services.nowSeconds();
  const usable = services.catalog.list().filter((model) => !isRetired(model, nowSeconds));
  return usable.map(view).filter(({ svc }) => svc.active_workers > 0);
}

/** GET /v1/models */
export function listModels(services: ModelServices): RequestHandler {
  return async (_request, response) => {
    const data = await listedModels(services);
    response.json({ object: 'list', data } satisfies ModelList);
  };
}

/** GET /v1/models/{model_id}: any model of the catalog, hosted at present or not. */
export function getModel(services: ModelServices): RequestHandler<{ model_id: string }> {
  return async (request, response) => {
    const model = services.catalog.find(request.params.model_id);
    if (!model) {
      throw new ApiError('model_not_found', 'No model has this id.', {
        status: 404,
        param: 'model_id',
      });
    }
    const view = await modelViewer(services);
    response.json(view(model));
  };
}
