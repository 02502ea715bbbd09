import { once } from 'node:events';
import { request } from 'node:http';
import type { Target } from '../load.ts';

/** Sends one request and reads its answer. @param localAddress whence @returns its status */
export async function send(
  { url, apiKey }: Target,
  method: string,
  path: string,
  body?: Buffer,
  localAddress?: string,
): Promise<number> {
  const headers = { authorization: `Bearer ${apiKey}` };
  const sent = request(`${url}${path}`, { method, headers, ...(localAddress && { localAddress }) });
  sent.end(body);
  const [response] = await once(sent, 'response');
  response.resume();
  await once(response, 'end');
  return response.statusCode;
}
