import { z } from 'zod';
import { type EventKind, WEBHOOK_KINDS } from '../../webhooks/events.ts';
import { envelope, webhookKinds } from '../../webhooks/kinds.ts';
import { accountObject } from '../contracts/account.ts';
import { chatCompletionRequest, createChatCompletionRequest } from '../contracts/chatCompletion.ts';
import { chatCompletion, chatCompletionChunk } from '../contracts/completionAnswer.ts';
import { errorObject } from '../contracts/errors.ts';
import { disputeAnswer, disputeRequest, jobList, jobObject } from '../contracts/job.ts';
import { modelList, modelObject } from '../contracts/network.ts';
import { createResponsesRequest, responsesRequest } from '../contracts/responses.ts';
import { responseObject } from '../contracts/responsesAnswer.ts';
import type { Preview } from '../contracts/tools.ts';
import {
  createdWebhook,
  deletedWebhook,
  webhookList,
  webhookObject,
  webhookRequest,
} from '../contracts/webhook.ts';
import type { Schema } from './openApi.ts';

const named = {
  ChatCompletionRequest: chatCompletionRequest,
  ChatCompletion: chatCompletion,
  ChatCompletionChunk: chatCompletionChunk,
  ResponsesRequest: responsesRequest,
  ResponseObject: responseObject,
  Model: modelObject,
  ModelList: modelList,
  Job: jobObject,
  JobList: jobList,
  DisputeRequest: disputeRequest,
  DisputeAnswer: disputeAnswer,
  Account: accountObject,
  WebhookRequest: webhookRequest,
  Webhook: webhookObject,
  CreatedWebhook: createdWebhook,
  WebhookList: webhookList,
  DeletedWebhook: deletedWebhook,
  Error: errorObject,
};

/** The name under which the document has a schema. @throws where it has none */
export function nameOf(schema: z.ZodType): string {
  const found = Object.entries<z.ZodType>(named).find(([, one]) => one === schema);
  if (!found) throw new Error('The document does not name the schema of a route');
  return found[0];
}

/** `job.completed` as `JobCompletedEvent`. */
export function eventSchemaName(kind: EventKind): string {
  const words = kind.split('.').map((word) => `${word.charAt(0).toUpperCase()}${word.slice(1)}`);
  return `${words.join('')}Event`;
}

export function eventEnvelope(kind: EventKind) {
  return envelope.extend({ event: z.literal(kind), data: webhookKinds[kind].data });
}

export function refTo(name: string): Schema {
  return { $ref: `#/components/schemas/${name}` };
}

/** Every object of the API as JSON Schema, under the names that the document refers to. */
export function componentSchemas(preview: Preview): Record<string, Schema> {
  const registry = z.registry<{ id: string }>();
  const forms = {
    ...named,
    ChatCompletionRequest: createChatCompletionRequest(preview),
    ResponsesRequest: createResponsesRequest(preview),
  };
  for (const [id, schema] of Object.entries(forms)) registry.add(schema, { id });
  for (const kind of WEBHOOK_KINDS) {
    registry.add(eventEnvelope(kind), { id: eventSchemaName(kind) });
  }
  const { schemas } = z.toJSONSchema(registry, {
    // What is read, not what a parser makes of it: requests are parsed into other forms, and
    // answers may get more fields.
    io: 'input',
    uri: (id) => refTo(id).$ref as string,
    override: omitNoise,
  });
  return Object.fromEntries(
    Object.entries(schemas).map(([id, { $schema, $id, ...schema }]) => [
      id,
      servedForm(schema as Schema, preview),
    ]),
  );
}

/**
 * A schema without what is of a preview that is off. Its `withoutTools` has the keywords that it has
 * instead, and is null where the property is not there; so is a keyword.
 */
function servedForm(schema: Schema, preview: Preview): Schema {
  const formOf = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(formOf);
    if (typeof value !== 'object' || value === null) return value;
    const { withoutTools, ...own } = value as Schema;
    const instead = preview.tools ? {} : ((withoutTools ?? {}) as Record<string, unknown>);
    const isServed = ([key, inner]: [string, unknown]) =>
      instead[key] !== null && (preview.tools || (inner as Schema | null)?.withoutTools !== null);
    const kept = Object.entries({ ...own, ...instead }).filter(isServed);
    return Object.fromEntries(kept.map(([key, inner]) => [key, formOf(inner)]));
  };
  return formOf(schema) as Schema;
}

/** The JSON Schema of each parameter of a query. */
export function querySchemas(query: z.ZodType): Record<string, Schema> {
  // A query arrives as text; what it is read as says more.
  return (z.toJSONSchema(query, { io: 'output' }) as Schema).properties ?? {};
}

/**
 * Removes JavaScript's own bounds, unless a schema names them itself, and patterns that repeat a
 * format.
 */
function omitNoise({
  zodSchema,
  jsonSchema: schema,
}: {
  zodSchema: z.core.$ZodType;
  jsonSchema: z.core.JSONSchema.BaseSchema;
}): void {
  const { minimum, maximum } = z.globalRegistry.get(zodSchema) ?? {};
  if (schema.minimum === Number.MIN_SAFE_INTEGER && minimum === undefined) delete schema.minimum;
  if (schema.maximum === Number.MAX_SAFE_INTEGER && maximum === undefined) delete schema.maximum;
  if (schema.format !== undefined) delete schema.pattern;
}
