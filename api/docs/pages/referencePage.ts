import type {
  CodeSample,
  MediaType,
  OpenApiDocument,
  Operation,
  Parameter,
  Response,
} from '../openApi.ts';
import { limitsOf, renderFields, typeOf } from './fields.ts';
import { type Html, html } from './html.ts';
import { anchorOf, renderMarkdown } from './markdown.ts';
import type { Heading, Page } from './page.ts';

/** GET /docs: the OpenAPI document, readable. */
export function referencePage(document: OpenApiDocument): Page {
  const { info, servers, components } = document;
  const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({
      heading: html`<span class="method">${method.toUpperCase()}</span><code>${path}</code>`,
      operation,
    })),
  );
  const events = Object.entries(document.webhooks).map(([kind, { post: operation }]) => ({
    heading: html`<code>${kind}</code>`,
    operation,
  }));
  const all = [...operations, ...events];
  const sections = document.tags.map(
    ({ name, description }) => html`<h2 id="${anchorOf(name)}">${name}</h2>
${renderMarkdown(description)}
${all
  .filter(({ operation }) => operation.tags.includes(name))
  .map(({ heading, operation }) => renderOperation(heading, operation, document))}`,
  );
  return {
    path: '/docs',
    title: 'API reference',
    contents: [
      { title: 'Authentication', anchor: 'authentication' },
      { title: 'Errors', anchor: 'errors' },
      ...document.tags.flatMap(({ name }) => [
        { title: name, anchor: anchorOf(name) },
        ...operations
          .filter(({ operation }) => operation.tags.includes(name))
          .map(
            ({ operation: { summary, operationId } }): Heading => ({
              ...{ title: summary, anchor: operationId, isInner: true },
            }),
          ),
      ]),
    ],
    body: html`<h1>${info.title}</h1>
<p class="soft">Version ${info.version} · base address <code>${servers[0]?.url}</code> · <a href="/openapi.json">OpenAPI 3.1 document</a></p>
${renderMarkdown(info.description)}
<h2 id="authentication">Authentication</h2>
<p>Every request carries the header <code>Authorization: Bearer &lt;API_KEY&gt;</code>.</p>
${renderMarkdown(components.securitySchemes.apiKey?.description ?? '')}
<h2 id="errors">Errors</h2>
<p>Every error has the same body. <a href="/docs/errors">All codes</a> say what they mean and what to do.</p>
${renderFields({ $ref: '#/components/schemas/Error' }, components.schemas)}
${sections}`,
  };
}

function renderOperation(heading: Html, operation: Operation, document: OpenApiDocument): Html {
  const { schemas } = document.components;
  const { parameters = [], requestBody, responses } = operation;
  const json = (content: Record<string, MediaType> | undefined) => content?.['application/json'];
  const body = json(requestBody?.content);
  const success = responses['200'];
  const answer = json(success?.content);
  const stream = success?.content?.['text/event-stream'];
  return html`<section>
<h3 id="${operation.operationId}">${heading}</h3>
${renderMarkdown(operation.description)}
${renderParameters(parameters)}
${body && html`<h4>Body</h4>${renderFields(body.schema, schemas)}${renderExample(body.example)}`}
${answer && html`<h4>Answer</h4>${renderFields(answer.schema, schemas)}${renderExample(answer.example)}`}
${
  stream &&
  html`<h4>Streamed answer</h4>
${renderMarkdown(stream.schema.description ?? '')}
${renderFields({ $ref: '#/components/schemas/ChatCompletionChunk' }, schemas)}
<pre><code>${String(stream.example)}</code></pre>`
}
${success && renderHeaders(success, document)}
${renderErrors(responses)}
${renderSamples(operation['x-codeSamples'])}
</section>
`;
}

function renderParameters(parameters: readonly Parameter[]): Html {
  if (parameters.length === 0) return html``;
  const rows = parameters.map(
    ({ name, in: place, schema, description }) => html`<tr>
<td><code>${name}</code></td>
<td>${typeOf(schema, {})}<br><small>${place}</small></td>
<td>${renderMarkdown(description)}${limitsOf(schema, {})}</td>
</tr>
`,
  );
  return html`<h4>Parameters</h4>
<div class="table"><table><tbody>
${rows}</tbody></table></div>`;
}

function renderHeaders(response: Response, document: OpenApiDocument): Html {
  const rows = Object.keys(response.headers ?? {}).map(
    (name) => html`<tr>
<td><code>${name}</code></td>
<td>${renderMarkdown(document.components.headers[name]?.description ?? '')}</td>
</tr>
`,
  );
  return html`<h4>Headers of the answer</h4>
<div class="table"><table><tbody>
${rows}</tbody></table></div>`;
}

function renderErrors(responses: Record<string, Response>): Html {
  const rows = Object.entries(responses).flatMap(([status, { content }]) =>
    Object.keys(content?.['application/json']?.examples ?? {}).map(
      (code) => html`<li>${status} <a href="/docs/errors#${code}"><code>${code}</code></a></li>\n`,
    ),
  );
  return rows.length > 0 ? html`<h4>Errors</h4>\n<ul>\n${rows}</ul>` : html``;
}

function renderSamples(samples: readonly CodeSample[] = []): Html {
  if (samples.length === 0) return html``;
  return html`<h4>In code</h4>
<p>Each reads <code>BASE_URL</code> and <code>API_KEY</code> from the environment.</p>
${samples.map(
  ({ label, source }) => html`<details>
<summary>${label}</summary>
<pre><code>${source}</code></pre>
</details>
`,
)}`;
}

function renderExample(example: unknown): Html {
  if (example === undefined) return html``;
  return html`<pre><code>${JSON.stringify(example, null, 2)}</code></pre>`;
}
