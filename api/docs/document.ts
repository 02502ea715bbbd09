import { readFileSync } from 'node:fs';
import { sharedRoutes } from '../contracts/index.ts';
import type { Route } from '../contracts/route.ts';
import { NO_PREVIEW, type Preview } from '../contracts/tools.ts';
import { responseHeaders } from '../contracts/values.ts';
import { describeEndpoint, describeEvents } from './describe.ts';
import type { Method, OpenApiDocument, Operation } from './openApi.ts';
import { componentSchemas } from './schemas.ts';

const introductionOf = ({
  tools,
}: Preview) => `Chat completions from independent workers, paid from a prepaid credit balance. Every request is a job that is locked, proven and settled on a public ledger.

The requests and answers of completions follow the widely used chat-completions format: existing clients work after changing the base address and the key.

One credit is 0.01 of the stablecoin, whose mint [the models' page](/docs/models) names. Not available: assistants, fine-tuning, embeddings${tools ? '' : ', tool calling'} and image inputs; their paths are 404 \`route_not_found\`.

"Our choice" marks what this service decides for itself: a client that also speaks to other services should not count on it there.`;

const tags = [
  { name: 'Completions', description: 'Ask a model.' },
  { name: 'Models', description: 'What can be asked, and at which price.' },
  { name: 'Jobs', description: 'What became of each request, with its ledger record.' },
  { name: 'Account', description: 'The balance.' },
  { name: 'Webhooks', description: 'Where events are sent.' },
  { name: 'Events', description: 'What is sent to webhooks.' },
];

/**
 * The OpenAPI document of the whole API, made from the schemas that parse and type it.
 *
 * @param preview what of it is on
 */
export function buildDocument(publicUrl: string, preview = NO_PREVIEW): OpenApiDocument {
  return {
    openapi: '3.1.1',
    info: {
      title: 'Inference API',
      version: packageVersion(),
      description: introductionOf(preview),
    },
    servers: [{ url: publicUrl }],
    security: [{ apiKey: [] }],
    tags,
    paths: describePaths(publicUrl),
    webhooks: describeEvents(),
    components: {
      schemas: componentSchemas(preview),
      headers: Object.fromEntries(
        Object.entries(responseHeaders).map(([name, description]) => [
          name,
          { description, schema: { type: 'string' } },
        ]),
      ),
      securitySchemes: {
        apiKey: {
          type: 'http',
          scheme: 'bearer',
          description:
            'An API key: `svc_live_` and 32 letters and digits, made in the web app (`/console/settings`).',
        },
      },
    },
  };
}

function describePaths(publicUrl: string): OpenApiDocument['paths'] {
  const paths: Record<string, Partial<Record<Method, Operation>>> = {};
  for (const [name, route] of Object.entries<Route>(sharedRoutes)) {
    if (!route.docs) continue;
    const path = `/v1${route.path.replace(/:(\w+)/g, '{$1}')}`;
    const operation = describeEndpoint({ name, ...route, docs: route.docs }, publicUrl);
    paths[path] = { ...paths[path], [route.method.toLowerCase()]: operation };
  }
  return paths;
}

function packageVersion(): string {
  const path = new URL('../../package.json', import.meta.url);
  return (JSON.parse(readFileSync(path, 'utf8')) as { version: string }).version;
}
