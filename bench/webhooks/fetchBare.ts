import { Agent, request } from 'undici';

// Only posts a body to each URL a number of times: the minimum for any delivery. Answers messages as
// `deliver.ts` does. Arguments: the number, and the URLs.

/** The service's concurrency for one webhook. */
const AT_ONCE = 4;
/** The length of a typical event. */
const BODY = JSON.stringify({ data: 'x'.repeat(400) });

const [count = '', ...urls] = process.argv.slice(2);
const dispatcher = new Agent();
const before = process.cpuUsage();
process.on('message', () => {
  const { user, system } = process.cpuUsage(before);
  process.send?.((user + system) / 1_000);
});

async function postAll(url: string): Promise<void> {
  let left = Number(count);
  const headers = { 'content-type': 'application/json' };
  const lanes = Array.from({ length: AT_ONCE }, async () => {
    while (left-- > 0) {
      const { body } = await request(url, { method: 'POST', dispatcher, headers, body: BODY });
      await body.dump();
    }
  });
  await Promise.all(lanes);
}

await Promise.all(urls.map(postAll));
