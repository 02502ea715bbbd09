// A completion. The headers name its job, who answered, the two transactions, and what is left.
import OpenAI from 'openai';

const { BASE_URL, API_KEY } = process.env;
const client = new OpenAI({ baseURL: `${BASE_URL}/v1`, apiKey: API_KEY });

const { data: completion, response } = await client.chat.completions
  .create({
    model: 'qwen3-8b',
    messages: [{ role: 'user', content: 'Say hello.' }],
    max_tokens: 100,
  })
  .withResponse();
console.log(completion.choices[0]?.message.content);
console.log(completion.usage);
for (const [name, value] of response.headers) {
  if (name.startsWith('x-svc-')) console.log(`${name}: ${value}`);
}
