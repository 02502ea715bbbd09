// An error has a status, a code, the field it is about, and a link to what it means. Some have
// details: this request may lock one credit at most, and credits_required says what it takes.
import OpenAI from 'openai';

const { BASE_URL, API_KEY } = process.env;
const client = new OpenAI({ baseURL: `${BASE_URL}/v1`, apiKey: API_KEY });

function ask(maxCredits: number) {
  return client.chat.completions.create(
    { model: 'qwen3-8b', messages: [{ role: 'user', content: 'Say hello.' }] },
    { headers: { 'x-svc-max-credits': String(maxCredits) } },
  );
}

const completion = await ask(1).catch((error: unknown) => {
  if (!(error instanceof OpenAI.APIError)) throw error;
  const { docs, details } = error.error as { docs: string; details: { credits_required: number } };
  console.log(error.status, error.code, error.param, docs);
  if (error.code !== 'price_above_limit') throw error;
  console.log(details);
  return ask(details.credits_required);
});
console.log(completion.choices[0]?.message.content);
