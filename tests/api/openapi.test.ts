import { describe, expect, it } from '@jest/globals';
import { Validator } from '@seriousme/openapi-schema-validator';
import type { Express } from 'express';
import { type AppServices, createApp } from '../../api/app.ts';
import { apiErrorCodes, type ErrorCode, errorTable } from '../../api/contracts/errorTable.ts';
import { buildDocument } from '../../api/docs/document.ts';
import type { OpenApiDocument, Operation } from '../../api/docs/openApi.ts';
import { WEBHOOK_KINDS } from '../../webhooks/events.ts';
import { createDocumentValidator } from './documentValidator.ts';

const document: OpenApiDocument = buildDocument('https://api.example.com');
const validate = createDocumentValidator(document);

const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, operation]) => ({
    name: `${method.toUpperCase()} ${path}`,
    operation,
  })),
);
const events = Object.entries(document.webhooks).map(([name, { post: operation }]) => ({
  name,
  operation,
}));

/** The app's own routes below /v1, spelled as OpenAPI spells them. */
function routesOf(app: Express): string[] {
  return app.router.stack.flatMap(({ route }) => {
    if (!route?.path.startsWith('/v1/')) return [];
    const path = route.path.replaceAll(/:(\w+)/g, '{$1}');
    const methods = new Set(route.stack.map(({ method }) => method.toUpperCase()));
    return [...methods].map((method) => `${method} ${path}`);
  });
}

const codesOf = ({ responses }: Operation): [code: string, status: string][] =>
  Object.entries(responses).flatMap(([status, { content }]) =>
    Object.keys(content?.['application/json']?.examples ?? {}).map((code): [string, string] => [
      code,
      status,
    ]),
  );

describe('the OpenAPI document', () => {
  it('is valid OpenAPI 3.1 [surface.openapi] [versions.release]', async () => {
    expect(await new Validator().validate(structuredClone({ ...document }))).toEqual({
      valid: true,
    });
    expect(document.openapi).toMatch(/^3\.1\./);
    expect(document.info.version).toBe('0.1.0');
  });

  it('describes every route of the app below /v1 and no other [surface.openapi]', () => {
    const app = createApp({ publicUrl: '', corsOrigins: [] } as unknown as AppServices);

    expect(operations.map(({ name }) => name).sort()).toEqual(routesOf(app).sort());
  });

  it('describes every kind of event and no other [surface.openapi]', () => {
    expect(events.map(({ name }) => name)).toEqual([...WEBHOOK_KINDS]);
  });

  it('lists every error code, with a status from the error table [errors.per-endpoint]', () => {
    const named = operations.flatMap(({ operation }) => codesOf(operation));
    const known = apiErrorCodes.filter((code) => code !== 'route_not_found');

    expect([...new Set(named.map(([code]) => code))].sort()).toEqual(known.sort());
    for (const [code, status] of named) {
      const statuses = [errorTable[code as ErrorCode].status, code === 'model_not_found' && 404];
      expect(statuses).toContain(Number(status));
    }
  });

  it('shows the job of an error after a lock, and of no other', () => {
    const { post } = document.paths['/v1/chat/completions'] ?? {};
    const example = (status: string, code: string): unknown =>
      post?.responses[status]?.content?.['application/json']?.examples?.[code]?.value;
    expect(example('504', 'job_timeout')).toMatchObject({
      error: { code: 'job_timeout' },
      svc: { job_id: expect.stringMatching(/^job_/), verify_url: expect.any(String) },
    });
    expect(Object.keys(example('422', 'price_above_limit') ?? {})).toEqual(['error']);
  });

  it("states the limits of an integer and of a webhook's url", () => {
    const { ChatCompletionRequest, WebhookRequest } = document.components.schemas;
    expect(ChatCompletionRequest?.properties?.seed?.anyOf).toContainEqual({
      ...{ type: 'integer', minimum: -(2 ** 53 - 1), maximum: 2 ** 53 - 1 },
    });
    expect(WebhookRequest?.properties?.url?.description).toContain('port 443 or one from 1024 up');
  });

  it('requires a key for every endpoint [keys.bearer]', () => {
    expect(document.security).toEqual([{ apiKey: [] }]);
    for (const { operation } of operations) {
      expect(operation.security).toBeUndefined();
      expect(codesOf(operation)).toContainEqual(['missing_api_key', '401']);
    }
  });
});

describe.each([...operations, ...events])('$name', ({ operation }) => {
  const contents = [
    operation.requestBody?.content,
    ...Object.values(operation.responses).map(({ content }) => content),
  ].flatMap((content) => content?.['application/json'] ?? []);

  it('has examples that fit their schemas [surface.openapi]', () => {
    const examples = contents.flatMap(({ schema, example, examples = {} }) =>
      [example, ...Object.values(examples).map(({ value }) => value)]
        .filter((value) => value !== undefined)
        .map((value) => ({ schema, value })),
    );

    expect(examples.length).toBeGreaterThan(0);
    for (const { schema, value } of examples) expect(validate(schema, value)).toEqual([]);
  });

  it('has a unique name', () => {
    const named = [...operations, ...events].filter(
      (other) => other.operation.operationId === operation.operationId,
    );
    expect(named).toHaveLength(1);
  });
});
