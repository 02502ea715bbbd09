// An error has a status, a code, and a link to what it means. A 402 comes with details: what was
// needed, what is left, and the max_tokens that would be covered.
import OpenAI from 'openai';

const { BASE_URL, API_KEY } = process.env;
const client = new OpenAI({ baseURL: `${BASE_URL}/v1`, apiKey: API_KEY });

interface ErrorBody {
  docs: string;
  details: { affordable_max_tokens: number };
}

function ask(maxTokens: number) {
  return client.chat.completions.create({
    model: 'qwen3-8b',
    messages: [{ role: 'user', content: 'Write a novel.' }],
    max_tokens: maxTokens,
  });
}

const completion = await ask(30_000).catch((error: unknown) => {
  if (!(error instanceof OpenAI.APIError)) throw error;
  const { docs, details } = error.error as ErrorBody;
  console.log(error.status, error.code, docs);
  if (error.code !== 'insufficient_credits') throw error;
  console.log(details);
  return ask(details.affordable_max_tokens);
});
console.log(completion.choices[0]?.message.content);
