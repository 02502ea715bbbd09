// A job with its ledger record, the last settled jobs, and the balance. JOB_ID is the x-svc-job-id
// of a completion.
import OpenAI from 'openai';

const { BASE_URL, API_KEY, JOB_ID } = process.env;
const client = new OpenAI({ baseURL: `${BASE_URL}/v1`, apiKey: API_KEY });

interface Job {
  id: string;
  model: string;
  status: string;
  credits_charged: number;
  on_chain: { settlement_tx: string | null };
}
const job: Job = await client.get(`/jobs/${JOB_ID}`);
console.log(job.status, job.credits_charged, job.on_chain.settlement_tx);

const query = { status: 'settled', limit: 5 };
const { data: jobs }: { data: Job[] } = await client.get('/jobs', { query });
for (const { id, model, credits_charged } of jobs) console.log(id, model, credits_charged);

const account: { wallet: string; credits_remaining: number } = await client.get('/account');
console.log(account.wallet, account.credits_remaining);
