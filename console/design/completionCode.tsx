import { useConfig } from '../data/ledger.ts';
import { useRead } from '../data/queries.ts';
import {
  type CompletionRequest,
  completionSamples,
  firstRequest,
  trialModel,
} from '../data/samples.ts';
import { CodeTabs } from './code.tsx';

/** Code that sends a completion to this service; by default a new customer's first one. */
export function CompletionCode(given: {
  readonly request?: CompletionRequest;
  readonly apiKey?: string;
}) {
  const models = useRead('/models').data?.data;
  const publicUrl = useConfig()?.public_url ?? window.location.origin;
  const request = firstRequest(trialModel(models));
  return <CodeTabs samples={completionSamples({ publicUrl, request, ...given })} />;
}
