// A dispute, if another text arrived than the worker proved, within 60 s of the settlement.
// answer.txt is the text of JOB_ID as it arrived, without a newline at its end.
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import OpenAI from 'openai';

const { BASE_URL, API_KEY, JOB_ID } = process.env;
const client = new OpenAI({ baseURL: `${BASE_URL}/v1`, apiKey: API_KEY });

const digest = createHash('sha256').update(readFileSync('answer.txt')).digest('hex');
const body = { received_output_hash: `sha256:${digest}` };
console.log(await client.post(`/jobs/${JOB_ID}/dispute`, { body }));
