// A container's health check, `node bin/probe.mjs <url>`: exit code 0 where the answer is a success.
const [url = ''] = process.argv.slice(2);
const response = await fetch(url).catch(() => undefined);
process.exit(response?.ok ? 0 : 1);
