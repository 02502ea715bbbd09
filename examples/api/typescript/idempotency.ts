// A request that may be repeated: under its key it is answered once and charged once.
import { randomUUID } from 'node:crypto';
import OpenAI from 'openai';

const { BASE_URL, API_KEY } = process.env;
const client = new OpenAI({ baseURL: `${BASE_URL}/v1`, apiKey: API_KEY });

const headers = { 'Idempotency-Key': randomUUID() };
for (const _attempt of [1, 2]) {
  const { response } = await client.chat.completions
    .create({ model: 'qwen3-8b', messages: [{ role: 'user', content: 'Say hello.' }] }, { headers })
    .withResponse();
  console.log(response.headers.get('x-svc-job-id'), response.headers.get('x-svc-replayed'));
}
