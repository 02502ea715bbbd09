import type { OpenApiDocument, Schema } from '../openApi.ts';
import { type Html, html } from './html.ts';
import { renderInline, renderMarkdown } from './markdown.ts';

/** One line of a table of fields. */
interface Field {
  /** Its path, such as `choices[].message.content`. */
  name: string;
  schema: Schema;
  isRequired: boolean;
}

type Schemas = OpenApiDocument['components']['schemas'];

/** A table of all fields of an object, those of nested objects by their paths. */
export function renderFields(schema: Schema, schemas: Schemas): Html {
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
export function typeOf(field: Schema, schemas: Schemas): string {
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
export function limitsOf(field: Schema, schemas: Schemas): Html {
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
