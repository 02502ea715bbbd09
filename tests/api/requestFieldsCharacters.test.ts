import { describe, expect, it } from '@jest/globals';
import { webhookRequest } from '../../api/contracts/account.ts';
import { chatCompletionRequest } from '../../api/contracts/chatCompletion.ts';
import { parseRequest } from '../../api/contracts/values.ts';
import { buildDocument } from '../../api/docs/document.ts';
import { createDocumentValidator } from './documentValidator.ts';

const validate = createDocumentValidator(buildDocument('https://api.example.com'));
const EMOJI = '\u{1f600}';

const requests = {
  stop: {
    name: 'ChatCompletionRequest',
    schema: chatCompletionRequest,
    rest: { model: 'm', messages: [{ role: 'user', content: 'hi' }] },
  },
  secret: {
    name: 'WebhookRequest',
    schema: webhookRequest,
    rest: { url: 'https://example.com', events: ['job.completed'] },
  },
} as const;

describe('the length of a text', () => {
  it.each([
    ['stop', '', 1, false],
    ['stop', EMOJI, 1, true],
    ['stop', EMOJI, 200, true],
    ['stop', EMOJI, 256, true],
    ['stop', EMOJI, 257, false],
    ['stop', 'x', 257, false],
    ['stop', 'x', 4_000_000, false],
    ['secret', EMOJI, 8, false],
    ['secret', EMOJI, 15, false],
    ['secret', EMOJI, 16, true],
    ['secret', EMOJI, 255, true],
    ['secret', EMOJI, 256, false],
    ['secret', 'x', 15, false],
    ['secret', 'x', 16, true],
    ['secret', 'x', 256, false],
  ] as const)(
    'counts characters, as the document does: %s of %s × %i',
    (field, one, count, isTaken) => {
      const { name, schema, rest } = requests[field];
      const body = { ...rest, [field]: one.repeat(count) };
      const parse = () => parseRequest(schema, body);

      if (isTaken) expect(parse()).toMatchObject({ [field]: expect.anything() });
      else expect(parse).toThrow(expect.objectContaining({ options: { param: field } }));
      expect(validate({ $ref: `#/components/schemas/${name}` }, body).length === 0).toBe(isTaken);
    },
  );

  it('accepts lone surrogates', () => {
    const body = { ...requests.secret.rest, secret: '\ud800'.repeat(20) };
    expect(() => parseRequest(webhookRequest, body)).toThrow(
      "Invalid value for 'secret': must not contain lone surrogates.",
    );
  });
});
