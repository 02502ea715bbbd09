import type { ConsoleModel } from '../../api/console/contracts/index.ts';

/** The cheapest model that a worker hosts at present; of none, the cheapest of all. */
export function trialModel(models: readonly ConsoleModel[] = []): string {
  const byPrice = models.toSorted(
    ({ svc: one }, { svc: other }) => one.credits_per_request - other.credits_per_request,
  );
  return (byPrice.find(({ svc }) => svc.active_workers > 0) ?? byPrice[0])?.id ?? 'MODEL';
}

/** A chat completion as the pages ask for one. */
export interface CompletionRequest {
  readonly model: string;
  readonly messages: readonly { readonly role: string; readonly content: string }[];
  readonly max_tokens?: number;
  readonly stream?: true;
}

/** The first request of somebody who has just come. */
export const firstRequest = (model: string): CompletionRequest => ({
  model,
  messages: [{ role: 'user', content: 'Say hello in five words.' }],
});

/** Code that sends this request, all of it, and runs as pasted: in the documentation's three languages. */
export function completionSamples({
  publicUrl,
  apiKey = 'YOUR_API_KEY',
  request,
}: {
  readonly publicUrl: string;
  readonly apiKey?: string;
  readonly request: CompletionRequest;
}): (readonly [language: string, code: string])[] {
  const text = (value: string) => JSON.stringify(value);
  const { stream, ...fields } = request;
  const answer = stream ? 'stream' : 'answer';
  return [
    [
      'curl',
      [
        // Without -N it would hold pieces back.
        `curl ${stream ? '-N ' : ''}${publicUrl}/v1/chat/completions \\`,
        `  -H ${quote(`Authorization: Bearer ${apiKey}`)} \\`,
        `  -H 'Content-Type: application/json' \\`,
        `  -d ${quote(JSON.stringify(request, undefined, 2))}`,
      ].join('\n'),
    ],
    [
      'Python',
      [
        '# pip install openai',
        'from openai import OpenAI',
        '',
        `client = OpenAI(base_url=${text(`${publicUrl}/v1`)}, api_key=${text(apiKey)})`,
        `${answer} = client.chat.completions.create(`,
        // What JSON has of these fields, Python writes the same.
        ...Object.entries(fields).map(([name, value]) => `    ${name}=${literal(value, '    ')},`),
        ...(stream ? ['    stream=True,'] : []),
        ')',
        ...(stream
          ? [
              'for chunk in stream:',
              '    if chunk.choices:',
              '        print(chunk.choices[0].delta.content or "", end="", flush=True)',
            ]
          : ['print(answer.choices[0].message.content)']),
      ].join('\n'),
    ],
    [
      'TypeScript',
      [
        '// npm install openai',
        "import OpenAI from 'openai';",
        '',
        'const client = new OpenAI({',
        `  baseURL: ${text(`${publicUrl}/v1`)},`,
        `  apiKey: ${text(apiKey)},`,
        '});',
        `const ${answer} = await client.chat.completions.create({`,
        ...Object.entries(request).map(([name, value]) => `  ${name}: ${literal(value, '  ')},`),
        '});',
        ...(stream
          ? [
              'for await (const chunk of stream) {',
              "  process.stdout.write(chunk.choices[0]?.delta.content ?? '');",
              '}',
            ]
          : ['console.log(answer.choices[0]?.message.content);']),
      ].join('\n'),
    ],
  ];
}

/** A value in lines of their own, each behind this margin. */
function literal(value: unknown, margin: string): string {
  return JSON.stringify(value, undefined, margin).replaceAll('\n', `\n${margin}`);
}

/** For a shell. */
function quote(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
