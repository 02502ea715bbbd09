// An error has a status, a code, the field it is about, and a link to what it means. Some have
// details: in those of a 402, affordable_max_tokens says what the balance covers.
import OpenAI from 'openai';

const { BASE_URL, API_KEY } = process.env;
const client = new OpenAI({ baseURL: `${BASE_URL}/v1`, apiKey: API_KEY });

function ask(model: string) {
  return client.chat.completions.create({
    model,
    messages: [{ role: 'user', content: 'Say hello.' }],
  });
}

const completion = await ask('no-such-model').catch(async (error: unknown) => {
  if (!(error instanceof OpenAI.APIError)) throw error;
  const { docs } = error.error as { docs: string };
  console.log(error.status, error.code, error.param, docs);
  if (error.code !== 'model_not_found') throw error;
  const { data } = await client.models.list();
  return ask(data[0]?.id ?? '');
});
console.log(completion.choices[0]?.message.content);
