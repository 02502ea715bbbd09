import type { ConsoleModel } from '../../api/contracts/index.ts';
import type { toolCallsAsJson } from '../../programs/client/statement.ts';

/** The cheapest model that a worker hosts at present; of none, the cheapest of all. */
export function trialModel(models: readonly ConsoleModel[] = []): string {
  const byPrice = models.toSorted(
    ({ svc: one }, { svc: other }) => one.credits_per_request - other.credits_per_request,
  );
  return (byPrice.find(({ svc }) => svc.active_workers > 0) ?? byPrice[0])?.id ?? 'MODEL';
}

/** Of a conversation. An answer with calls has null for no text, and each call's result follows. */
interface Message {
  readonly role: string;
  readonly content: string | null;
  readonly tool_calls?: ReturnType<typeof toolCallsAsJson>;
  readonly tool_call_id?: string;
}

/** A function that an answer may call. */
export interface Tool {
  readonly type: 'function';
  readonly function: { readonly name: string };
}

/**
 * A chat completion as the pages ask for one. Its fields stand in the order in which the official Python
 * client sends them, so that all code that is shown sends the same bytes.
 */
export interface CompletionRequest {
  readonly model: string;
  readonly stream?: true;
  readonly messages: readonly Message[];
  readonly max_tokens?: number;
  readonly seed?: number;
  readonly stop?: readonly string[];
  readonly temperature?: number;
  readonly tool_choice?: 'none' | 'auto' | 'required' | Tool;
  readonly tools?: readonly Tool[];
  readonly top_p?: number;
  /** The most that may be locked. No other service has this field. */
  readonly max_credits?: number;
}

/** The first request of a new customer. */
export const firstRequest = (model: string): CompletionRequest => ({
  model,
  messages: [{ role: 'user', content: 'Say hello in five words.' }],
});

interface Sample {
  readonly publicUrl: string;
  readonly apiKey: string;
  readonly request: CompletionRequest;
}

/**
 * Code that sends this request, byte for byte as `JSON.stringify` writes it, and runs as pasted: in the
 * documentation's three languages.
 */
export function completionSamples({
  apiKey = 'YOUR_API_KEY',
  ...given
}: Omit<Sample, 'apiKey'> & { readonly apiKey?: string }): (readonly [
  language: string,
  code: string,
])[] {
  const sample = { ...given, apiKey };
  return [
    ['curl', curl(sample).join('\n')],
    ['Python', python(sample).join('\n')],
    ['TypeScript', typescript(sample).join('\n')],
  ];
}

function curl({ publicUrl, apiKey, request }: Sample): string[] {
  return [
    // Without -N it would hold pieces back.
    `curl ${request.stream ? '-N ' : ''}${publicUrl}/v1/chat/completions \\`,
    `  -H ${quote(`Authorization: Bearer ${apiKey}`)} \\`,
    `  -H 'Content-Type: application/json' \\`,
    `  -d ${quote(JSON.stringify(request))}`,
  ];
}

function python({ publicUrl, apiKey, request }: Sample): string[] {
  const { stream, max_credits, ...fields } = request;
  return [
    '# pip install openai',
    'from openai import OpenAI',
    '',
    `client = OpenAI(base_url=${text(`${publicUrl}/v1`)}, api_key=${text(apiKey)})`,
    `${stream ? 'stream' : 'answer'} = client.chat.completions.create(`,
    ...Object.entries(fields).map(
      ([name, value]) => `    ${name}=${inPython(literal(value, '    '))},`,
    ),
    ...(stream ? ['    stream=True,'] : []),
    ...(max_credits ? [`    extra_body={"max_credits": ${max_credits}},`] : []),
    ')',
    ...(stream
      ? [
          'for chunk in stream:',
          '    if chunk.choices:',
          request.tools
            ? '        print(chunk.choices[0].delta)'
            : '        print(chunk.choices[0].delta.content or "", end="", flush=True)',
        ]
      : ['print(answer.choices[0].message.content)']),
  ];
}

function typescript({ publicUrl, apiKey, request }: Sample): string[] {
  return [
    '// npm install openai',
    "import OpenAI from 'openai';",
    '',
    'const client = new OpenAI({',
    `  baseURL: ${text(`${publicUrl}/v1`)},`,
    `  apiKey: ${text(apiKey)},`,
    '});',
    `const ${request.stream ? 'stream' : 'answer'} = await client.chat.completions.create({`,
    ...Object.entries(request).flatMap(([name, value]) => [
      ...(name === 'max_credits' ? ['  // @ts-expect-error: a field of this service alone'] : []),
      `  ${name}: ${literal(value, '  ')},`,
    ]),
    '});',
    ...(request.stream
      ? [
          'for await (const chunk of stream) {',
          request.tools
            ? '  console.log(chunk.choices[0]?.delta);'
            : "  process.stdout.write(chunk.choices[0]?.delta.content ?? '');",
          '}',
        ]
      : ['console.log(answer.choices[0]?.message.content);']),
  ];
}

const text = (value: string) => JSON.stringify(value);

/** A value in lines of their own, each behind this margin. */
function literal(value: unknown, margin: string): string {
  return JSON.stringify(value, undefined, margin).replaceAll('\n', `\n${margin}`);
}

const IN_PYTHON: Readonly<Record<string, string>> = { true: 'True', false: 'False', null: 'None' };

/** JSON as Python writes it: three words differ, outside of texts. */
const inPython = (json: string) =>
  json.replaceAll(/"(?:[^"\\]|\\.)*"|true|false|null/g, (token) => IN_PYTHON[token] ?? token);

/** For a shell. */
function quote(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
