import { once } from 'node:events';
import { Agent, createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { pipeline } from 'node:stream';
import { endWithParent } from '../../common/shutdown.ts';
import { costMetrics } from '../costMetrics.ts';

// What passing a request on takes on this machine: a server of Node's own that forwards every byte
// both ways and does nothing else. Gateways can be compared across machines by their ratio to it.

const upstream = new URL(process.env.BENCH_UPSTREAM_URL ?? '');
const agent = new Agent({ keepAlive: true });

const server = createServer((incoming, response) => {
  if (incoming.url === '/metrics') return void response.end(costMetrics());
  const { method, url: path, headers } = incoming;
  const { hostname, port } = upstream;
  const forwarded = request({ agent, hostname, port, method, path, headers }, (answer) => {
    response.writeHead(answer.statusCode ?? 502, answer.headers);
    pipeline(answer, response, failLoudly);
  });
  pipeline(incoming, forwarded, failLoudly);
});

/** A figure of a proxy that lost an answer would mean nothing. */
function failLoudly(error: unknown): void {
  if (error) throw error;
}

endWithParent();
server.listen(0, '127.0.0.1');
await once(server, 'listening');
const { port } = server.address() as AddressInfo;
process.stdout.write(`${JSON.stringify({ ready: true, url: `http://127.0.0.1:${port}/v1` })}\n`);
