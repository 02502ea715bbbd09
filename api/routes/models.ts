import type { ModelCard } from '../../common/contracts/modelCard.ts';
import { isoTimeOrNull, sha256Text } from '../../common/format.ts';
import { TOOL_FIELDS } from '../../common/workerProtocol.ts';
import { SUPPORTED_PARAMETERS } from '../contracts/chatCompletion.ts';
import { ENDPOINTS, type ModelObject, type modelRoutes } from '../contracts/network.ts';
import type { Preview } from '../contracts/tools.ts';
import { type Catalog, isRetired } from '../jobs/catalog.ts';
import type { ModelCards } from '../models/cards.ts';
import { unknownModel } from '../models/unknownModel.ts';
import type { ModelRow } from '../sql/workers.ts';
import type { WorkerDirectory } from '../workers/directory.ts';
import type { Measurements } from './measurements.ts';
import type { Handlers } from './serveRoutes.ts';

export interface ModelServices {
  catalog: Catalog;
  directory: WorkerDirectory;
  cards: ModelCards;
  /** What of the API is on before it is for everybody; nothing by default. */
  preview?: Preview;
  nowSeconds: () => bigint;
}

/** The catalog. Keys get what they can ask; pages get all of it with what was measured. */
export function modelHandlers(
  services: ModelServices & { measurements: Measurements },
): Handlers<typeof modelRoutes> {
  const { catalog, measurements } = services;
  return {
    async listModels({ key }) {
      if (key) return { object: 'list', data: await listedModels(services) };
      const view = await measurements.modelViewer(await modelViewer(services));
      return { object: 'list', data: catalog.list().map(view) };
    },
    /** Any model of the catalog, hosted at present or not. */
    async getModel({ key, params: { model_id: id } }) {
      const model = catalog.find(id);
      if (!model) {
        throw unknownModel(id, catalog.list(), { status: 404, param: 'model_id' });
      }
      const view = await modelViewer(services);
      if (key) return view(model);
      const [measuredView, hosts] = await Promise.all([
        measurements.modelViewer(view),
        measurements.hosting(model.id),
      ]);
      return { ...measuredView(model), ...hosts };
    },
  };
}

/** The models that a request can name, and that at least one worker hosts. */
export async function listedModels(services: ModelServices): Promise<ModelObject[]> {
  const view = await modelViewer(services);
  const nowSeconds = services.nowSeconds();
  const usable = services.catalog.list().filter((model) => !isRetired(model, nowSeconds));
  return usable.map(view).filter(({ svc }) => svc.active_workers > 0);
}

/** @returns what shows a model with its card and with what is observed of it */
async function modelViewer({
  catalog,
  directory,
  cards,
  preview,
}: Omit<ModelServices, 'nowSeconds'>): Promise<(model: ModelRow) => ModelObject> {
  const medians = await catalog.medianLatencies();
  return (model) =>
    modelView(model, {
      activeWorkers: directory.active(model.address).length,
      // An active worker has answered a probe: a model is never listed without an observation.
      keepsFormat: directory.keepsFormat(model),
      callsTools: preview?.tools === true && directory.callsTools(model),
      medianLatencyMs: medians.get(model.id) ?? directory.startProbeMs(model) ?? 0,
      card: cards.get(model.card_hash ?? ''),
    });
}

function modelView(
  model: ModelRow,
  observed: {
    activeWorkers: number;
    keepsFormat: boolean;
    callsTools: boolean;
    medianLatencyMs: number;
    card: ModelCard | undefined;
  },
): ModelObject {
  return {
    id: model.id,
    object: 'model',
    created: Number(model.created_at),
    owned_by: model.originator,
    svc: {
      tier: model.tier,
      credits_per_request: model.credits_per_request,
      credits_per_1k_tokens: model.credits_per_1k_tokens,
      active_workers: observed.activeWorkers,
      median_latency_ms: observed.medianLatencyMs,
      parameters: model.label,
      context_window: model.context_window_tokens,
      long_completion_threshold: model.long_completion_threshold_tokens,
      endpoints: [...ENDPOINTS],
      supported_parameters: [
        ...SUPPORTED_PARAMETERS.filter(
          (field) => field !== 'response_format' || observed.keepsFormat,
        ),
        ...(observed.callsTools ? TOOL_FIELDS : []),
      ],
      retires_at: isoTimeOrNull(model.retires_at),
      card_hash: model.card_hash && sha256Text(model.card_hash),
      card: observed.card ?? null,
    },
  };
}
