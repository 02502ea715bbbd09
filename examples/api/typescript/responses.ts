// A response, streamed: the newer format of the same job. Nothing is stored, so a conversation is sent
// whole. The last event has the whole response with `svc`, which the official types do not know.
import OpenAI from 'openai';

const { BASE_URL, API_KEY } = process.env;
const client = new OpenAI({ baseURL: `${BASE_URL}/v1`, apiKey: API_KEY });

const stream = client.responses.stream({
  model: 'qwen3-8b',
  instructions: 'Be brief.',
  input: 'Say hello.',
  max_output_tokens: 100,
});
stream.on('response.output_text.delta', ({ delta }) => process.stdout.write(delta));
type Evidence = {
  svc: { credits_charged: number; verify_url: string };
  usage: { cost: number };
};
const { svc, usage } = (await stream.finalResponse()) as unknown as Evidence;
console.log('\ncredits_charged:', svc.credits_charged);
console.log('verify_url:', svc.verify_url);
console.log('cost:', usage.cost);
