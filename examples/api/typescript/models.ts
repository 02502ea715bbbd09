// The models that can be asked, with their prices in credits.
import OpenAI from 'openai';

const { BASE_URL, API_KEY } = process.env;
const client = new OpenAI({ baseURL: `${BASE_URL}/v1`, apiKey: API_KEY });

type Model = OpenAI.Model & { svc: { credits_per_request: number; credits_per_1k_tokens: number } };
const { data } = await client.models.list();
for (const { id, svc } of data as Model[]) {
  console.log(id, svc.credits_per_request, svc.credits_per_1k_tokens);
}
