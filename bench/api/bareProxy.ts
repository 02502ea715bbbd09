import { Agent, createServer, request } from 'node:http';
import { pipeline } from 'node:stream';
import { costMetrics, serve } from '../servers.ts';

// Measures the forwarding of a request on this machine: a plain Node server that forwards every byte
// both ways. The ratio to it makes gateways comparable across machines.

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

/** A proxy that loses an answer ends, because its figures would be meaningless. */
function failLoudly(error: unknown): void {
  if (error) throw error;
}

await serve(server, '/v1');
