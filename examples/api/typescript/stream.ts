// A streamed completion, with its usage at the end. The chunk with the finish reason has `svc`: what
// was charged, and where a browser checks it. The official types do not know it and pass it through.
import OpenAI from 'openai';

const { BASE_URL, API_KEY } = process.env;
const client = new OpenAI({ baseURL: `${BASE_URL}/v1`, apiKey: API_KEY });

const stream = await client.chat.completions.create({
  model: 'qwen3-8b',
  messages: [{ role: 'user', content: 'Say hello.' }],
  max_tokens: 100,
  stream: true,
  stream_options: { include_usage: true },
});
type Evidence = { svc?: { credits_charged: number; verify_url: string } };
for await (const chunk of stream) {
  const { choices, usage, svc }: typeof chunk & Evidence = chunk;
  process.stdout.write(choices[0]?.delta.content ?? '');
  if (svc) console.log('\ncredits_charged:', svc.credits_charged);
  if (svc) console.log('verify_url:', svc.verify_url);
  if (usage) console.log(usage);
}
