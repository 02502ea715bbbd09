// A streamed completion, with its usage at the end. The settlement follows when the stream is over:
// job.ts reads it.
import OpenAI from 'openai';

const { BASE_URL, API_KEY } = process.env;
const client = new OpenAI({ baseURL: `${BASE_URL}/v1`, apiKey: API_KEY });

const { data: stream, response } = await client.chat.completions
  .create({
    model: 'qwen3-8b',
    messages: [{ role: 'user', content: 'Say hello.' }],
    max_tokens: 100,
    stream: true,
    stream_options: { include_usage: true },
  })
  .withResponse();
for await (const { choices, usage } of stream) {
  process.stdout.write(choices[0]?.delta.content ?? '');
  if (usage) console.log('\n', usage);
}
console.log('job:', response.headers.get('x-svc-job-id'));
