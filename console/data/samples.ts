import type { ConsoleModel } from '../../api/console/contracts/index.ts';

/** The cheapest model that a worker hosts at present; of none, the cheapest of all. */
export function trialModel(models: readonly ConsoleModel[] = []): string {
  const byPrice = models.toSorted(
    ({ svc: one }, { svc: other }) => one.credits_per_request - other.credits_per_request,
  );
  return (byPrice.find(({ svc }) => svc.active_workers > 0) ?? byPrice[0])?.id ?? 'MODEL';
}

/** Code that runs as pasted, in the three languages of the documentation. */
export function completionSamples({
  publicUrl,
  apiKey = 'YOUR_API_KEY',
  model,
  prompt = 'Say hello in five words.',
}: {
  readonly publicUrl: string;
  readonly apiKey?: string;
  readonly model: string;
  readonly prompt?: string;
}): (readonly [language: string, code: string])[] {
  const text = (value: string) => JSON.stringify(value);
  const body = JSON.stringify(
    { model, messages: [{ role: 'user', content: prompt }] },
    undefined,
    2,
  );
  return [
    [
      'curl',
      [
        `curl ${publicUrl}/v1/chat/completions \\`,
        `  -H ${quote(`Authorization: Bearer ${apiKey}`)} \\`,
        `  -H 'Content-Type: application/json' \\`,
        `  -d ${quote(body)}`,
      ].join('\n'),
    ],
    [
      'Python',
      [
        '# pip install openai',
        'from openai import OpenAI',
        '',
        `client = OpenAI(base_url=${text(`${publicUrl}/v1`)}, api_key=${text(apiKey)})`,
        'answer = client.chat.completions.create(',
        `    model=${text(model)},`,
        `    messages=[{"role": "user", "content": ${text(prompt)}}],`,
        ')',
        'print(answer.choices[0].message.content)',
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
        'const answer = await client.chat.completions.create({',
        `  model: ${text(model)},`,
        `  messages: [{ role: 'user', content: ${text(prompt)} }],`,
        '});',
        'console.log(answer.choices[0]?.message.content);',
      ].join('\n'),
    ],
  ];
}

/** For a shell. */
function quote(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
