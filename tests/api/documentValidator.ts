import { Ajv2020, type ErrorObject } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import type { OpenApiDocument, Schema } from '../../api/docs/openApi.ts';

/** What is wrong with a value, by a schema of the document; nothing when it fits. */
export type ValidateAgainst = (schema: Schema, value: unknown) => ErrorObject[];

/**
 * Validates against the document's schemas, and more strictly than clients should: a field that the
 * document does not name is a fault of ours, too.
 */
export function createDocumentValidator(document: OpenApiDocument): ValidateAgainst {
  const ajv = new Ajv2020({ allErrors: true, strict: true, allowUnionTypes: true });
  addFormats.default(ajv);
  ajv.addKeyword('components');
  ajv.addSchema({ $id: 'document', components: closed(document.components) });
  return (schema, value) => {
    const check = ajv.getSchema(`document${schema.$ref}`);
    if (!check) throw new Error(`The document has no ${schema.$ref}`);
    check(value);
    return check.errors ?? [];
  };
}

/** The same schemas with every object limited to its named fields. */
function closed(schemas: unknown): unknown {
  if (Array.isArray(schemas)) return schemas.map(closed);
  if (typeof schemas !== 'object' || schemas === null) return schemas;
  const inner = Object.fromEntries(
    Object.entries(schemas).map(([key, value]) => [key, closed(value)]),
  );
  return inner.type === 'object' && inner.properties && inner.additionalProperties === undefined
    ? { ...inner, additionalProperties: false }
    : inner;
}
