import { bytesToHex } from '../../../programs/client/platform/bytes.ts';
import { type Json, parseJson, requestCommitment } from '../../../programs/client/proof.ts';
import type { Random } from '../../../testing/random.ts';
import type { AnyUnitCase } from './cases.ts';

const TOKEN_LIMIT = 9;

/** Bodies in JSON, and what follows from each beside its model and its one message. */
const FIELDS: Readonly<Record<string, readonly [sent: string, canonical: string]>> = {
  'nothing else': ['', ''],
  'what is left out': ['"tools":[],"n":1,"max_tokens":9,"max_credits":2,"user":"u"', ''],
  'numbers in other spellings': ['"seed":7e0,"top_p":0.50', '"seed":7,"top_p":0.5'],
  'nulls of every field': [
    '"temperature":null,"top_p":null,"frequency_penalty":null,"presence_penalty":null,"seed":null,' +
      '"stop":null,"response_format":null',
    '',
  ],
  'nothing in fields of an engine': [
    '"top_k":null,"min_p":[],"repetition_penalty":{},"reasoning_effort":null,"logit_bias":{},' +
      '"chat_template_kwargs":[]',
    '',
  ],
  'an empty list where only null is left out': ['"seed":[]', '"seed":[]'],
  'one stop': ['"stop":"."', '"stop":["."]'],
  'a list of stops': ['"stop":[".",""]', '"stop":[".",""]'],
  'an empty list of stops': ['"stop":[]', ''],
  'the form of a text': ['"response_format":{"type":"text","a":1}', ''],
  'an empty form': ['"response_format":{}', ''],
  'a form in JSON': [
    '"response_format":{"type":"json_object"}',
    '"response_format":{"type":"json_object"}',
  ],
  'names that are dropped': [
    '"logit_bias":{"__proto__":1,"5":2},"chat_template_kwargs":{"__proto__":1,"a":2}',
    '"logit_bias":{"5":2},"chat_template_kwargs":{"a":2}',
  ],
  'names that are dropped in a form': [
    '"response_format":{"__proto__":1,"json_schema":{"__proto__":1,"schema":{"__proto__":1,"a":2}}}',
    '"response_format":{"json_schema":{"schema":{"a":2}}}',
  ],
  'a form with a schema of another form': [
    '"response_format":{"json_schema":{"schema":[1]}}',
    '"response_format":{"json_schema":{"schema":[1]}}',
  ],
  'names that stay, further inside': [
    '"response_format":{"json_schema":{"schema":{"a":{"__proto__":1}}}},"logit_bias":{"a":{"__proto__":1}}',
    '"response_format":{"json_schema":{"schema":{"a":{"__proto__":1}}}},"logit_bias":{"a":{"__proto__":1}}',
  ],
  'nothing after the dropping': [
    '"logit_bias":{"__proto__":1},"response_format":{"__proto__":1}',
    '',
  ],
  'a name twice, of which the last counts': ['"seed":1,"seed":2', '"seed":2'],
};

/** Messages, and role and content of each. */
const MESSAGES: Readonly<Record<string, readonly [sent: string, canonical: string]>> = {
  'a message with more than role and content': [
    '{"role":"tool","content":"a","name":"n","tool_calls":[{}],"refusal":"b"}',
    '{"role":"tool","content":"a"}',
  ],
  'a developer': ['{"role":"developer","content":"a"}', '{"role":"system","content":"a"}'],
  'a refusal in the place of a content': [
    '{"role":"assistant","content":null,"refusal":"b"}',
    '{"role":"assistant","content":"b"}',
  ],
  'a refusal, and no content': [
    '{"role":"assistant","refusal":"b"}',
    '{"role":"assistant","content":"b"}',
  ],
  'no content': ['{"role":"assistant"}', '{"role":"assistant","content":""}'],
  'an empty content beside a refusal': [
    '{"role":"assistant","content":"","refusal":"b"}',
    '{"role":"assistant","content":""}',
  ],
  'parts of every type': [
    '{"role":"user","content":[{"type":"text","text":"a","refusal":"x"},{"type":"refusal","refusal":"b",' +
      '"text":"x"}]}',
    '{"role":"user","content":"ab"}',
  ],
  'halves of a character in two parts': [
    '{"role":"user","content":[{"type":"text","text":"\\ud83d"},{"type":"text","text":"\\ude00"}]}',
    '{"role":"user","content":"😀"}',
  ],
  'no parts': ['{"role":"user","content":[]}', '{"role":"user","content":""}'],
};

const REFUSED: Readonly<Record<string, string>> = {
  'a model that is no text': '{"model":7,"messages":[]}',
  'messages that are no list': '{"model":"m","messages":{}}',
  'a body that is cut': '{"model":"m","messages":[]',
  'words behind a body': '{"model":"m","messages":[]} x',
  'a number that JSON does not have': '{"model":"m","messages":[],"top_p":NaN}',
  'a number without an end': '{"model":"m","messages":[],"top_p":1e999}',
  'a part of another type':
    '{"model":"m","messages":[{"role":"user","content":[{"type":"input_text","text":"c"}]}]}',
  'a part without its text':
    '{"model":"m","messages":[{"role":"user","content":[{"type":"text"}]}]}',
  'a message that is no object': '{"model":"m","messages":["x"]}',
  'a message without a role': '{"model":"m","messages":[{"content":"x"}]}',
  'a role that is no text': '{"model":"m","messages":[{"role":5,"content":"x"}]}',
  'a content that is no text': '{"model":"m","messages":[{"role":"user","content":5}]}',
  'half of a character': '{"model":"m","messages":[{"role":"user","content":"\\ud83d"}]}',
};

/** Bodies of a few words, each for one condition of how a request is read. */
export function bodyCases(random: Random): AnyUnitCase[] {
  const salt = random.bytes(32);
  const body = (messages: string, fields: string) =>
    `{"model":"m","messages":[${messages}]${fields && `,${fields}`}}`;
  const message = '{"role":"user","content":"Hi"}';
  const bodyCase = (name: string, request: string, expected: object): AnyUnitCase => ({
    ...{ kind: 'request', name },
    input: { request, salt: bytesToHex(salt), token_limit: TOKEN_LIMIT },
    expected: expected as never,
  });
  const read = (name: string, request: string, canonical: string) => {
    const asked = { ...(parseJson(canonical) as Record<string, Json>), token_limit: TOKEN_LIMIT };
    return bodyCase(name, request, { commitment: bytesToHex(requestCommitment(salt, asked)) });
  };
  return [
    ...Object.entries(FIELDS).map(([name, [sent, canonical]]) =>
      read(name, body(message, sent), body(message, canonical)),
    ),
    ...Object.entries(MESSAGES).map(([name, [sent, canonical]]) =>
      read(name, body(sent, ''), body(canonical, '')),
    ),
    read('behind a byte order mark', `\ufeff${body(message, '')}`, body(message, '')),
    read('nothing in its list of messages', body('', ''), body('', '')),
    ...Object.entries(REFUSED).map(([name, text]) =>
      bodyCase(`refused: ${name}`, text, { refused: true }),
    ),
  ];
}
