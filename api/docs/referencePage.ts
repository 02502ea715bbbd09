import type {
  CodeSample,
  MediaType,
  OpenApiDocument,
  Operation,
  Parameter,
  Response,
  Schema,
} from './openApi.ts';
import {
  anchorOf,
  type Heading,
  type Html,
  html,
  type Page,
  renderInline,
  renderMarkdown,
} from './page.ts';

type Schemas = OpenApiDocument['components']['schemas'];

/** GET /docs/reference: the OpenAPI document, readable. */
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
    path: '/docs/reference',
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
              title: summary,
              anchor: operationId,
              isInner: true,
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

/** A table of all fields of an object, those of nested objects by their paths. */
function renderFields(schema: Schema, schemas: Schemas): Html {
  const rows = fieldsOf(schema, schemas).map(
    ({ name, schema: field, isRequired }) => html`<tr>
<td><code>${name}</code></td>
<td>${typeOf(field, schemas)}${isRequired ? '' : html`<br><small>optional</small>`}</td>
<td>${renderMarkdown(field.description ?? '')}${limitsOf(field, schemas)}</td>
</tr>
`,
  );
  return html`<div class="table"><table>
<thead><tr><th>Field</th><th>Type</th><th>Meaning</th></tr></thead>
<tbody>
${rows}</tbody>
</table></div>`;
}

/** One line of a table of fields. */
interface Field {
  /** Its path, such as `choices[].message.content`. */
  name: string;
  schema: Schema;
  isRequired: boolean;
}

function fieldsOf(schema: Schema, schemas: Schemas, prefix = ''): Field[] {
  const object = resolve(schema, schemas);
  return Object.entries(object.properties ?? {}).flatMap(([key, value]) => {
    const name = prefix + key;
    const field = { name, schema: value, isRequired: object.required?.includes(key) ?? false };
    const inner = innerObject(value, schemas);
    return inner ? [field, ...fieldsOf(inner.schema, schemas, `${name}${inner.suffix}.`)] : [field];
  });
}

/** The object that a field holds, be it in a list or possibly null. */
function innerObject(
  field: Schema,
  schemas: Schemas,
): { schema: Schema; suffix: string } | undefined {
  const schema = resolve(field, schemas);
  if (schema.properties) return { schema, suffix: '' };
  if (schema.items) {
    const inner = innerObject(schema.items, schemas);
    return inner && { ...inner, suffix: `[]${inner.suffix}` };
  }
  const [only, ...others] = (schema.anyOf ?? []).filter(({ type }) => type !== 'null');
  return only && others.length === 0 ? innerObject(only, schemas) : undefined;
}

/** In words: `string or null`, `array of integer`; `[]` and `{}` where they must be empty. */
function typeOf(field: Schema, schemas: Schemas): string {
  const schema = resolve(field, schemas);
  if (schema.const !== undefined) return JSON.stringify(schema.const);
  if (schema.anyOf) return schema.anyOf.map((one) => typeOf(one, schemas)).join(' or ');
  if (schema.maxItems === 0) return '[]';
  if (schema.additionalProperties === false && !Object.keys(schema.properties ?? {}).length) {
    return '{}';
  }
  if (schema.items) return `array of ${typeOf(schema.items, schemas)}`;
  return [schema.type ?? 'any'].flat().join(' or ');
}

/** Which of its type's values are meant, if not all. */
function limitsOf(field: Schema, schemas: Schemas): Html {
  const schema = resolve(field, schemas);
  const parts = [schema, schema.items ?? {}, ...(schema.anyOf ?? [])];
  const values = parts.find((part) => part.enum)?.enum;
  const bounded = parts.find(({ maximum }) => maximum !== undefined);
  return html`${values && html`<p>One of ${renderInline(values.map((value) => `\`${value}\``).join(', '))}</p>`}${
    bounded && html`<p>${bounded.minimum ?? 0} to ${bounded.maximum}</p>`
  }${schema.default !== undefined && html`<p>Default ${String(schema.default)}</p>`}`;
}

function resolve(schema: Schema, schemas: Schemas): Schema {
  const name = schema.$ref?.split('/').at(-1);
  return (name && schemas[name]) || schema;
}
