import { createHash, timingSafeEqual } from 'node:crypto';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { Logger } from '../../common/logger.ts';
import type { HeliusMetrics } from './metrics.ts';

/** A transaction with its logs is far smaller, and Helius sends few at a time. */
const BODY_BYTES_MAX = 1_048_576;
/** Helius gives up after a second; whoever is slower is not Helius. */
const REQUEST_MS_MAX = 5_000;
const TIMEOUT_CHECK_MS = 1_000;
const CONNECTIONS_MAX = 256;

/**
 * The endpoint that Helius's webhook posts to, at any path.
 *
 * Whoever knows the secret can make a sweep begin a moment earlier, and nothing else: the body is
 * counted and thrown away, since what it tells is on the ledger. So a request may be repeated, late,
 * out of order, forged or missing.
 *
 * @param options.secret the whole value of the Authorization header
 * @param options.onHint may fail: then Helius is told so, and repeats
 */
export function createWebhookServer(options: {
  secret: string;
  onHint: () => Promise<void>;
  logger: Logger;
  metrics: HeliusMetrics;
}): Server {
  const { secret, onHint, logger, metrics } = options;
  const expected = sha256(secret);
  const limits = {
    requestTimeout: REQUEST_MS_MAX,
    headersTimeout: REQUEST_MS_MAX,
    connectionsCheckingInterval: TIMEOUT_CHECK_MS,
  };

  async function statusFor(request: IncomingMessage): Promise<number> {
    if (request.method !== 'POST') return 405;
    const given = sha256(request.headers.authorization ?? '');
    if (!timingSafeEqual(given, expected)) return 401;
    if (!(await takeBody(request))) return 413;
    try {
      await onHint();
      return 200;
    } catch (error) {
      logger.warn({ msg: 'Failed to pass on a hint of Helius', reason: (error as Error).message });
      return 503;
    }
  }

  const server = createServer(limits, (request, response) => {
    statusFor(request).then(
      (status) => {
        metrics.answered(status);
        // What is refused may have a body that nobody reads, so its connection ends here.
        if (status >= 400) response.setHeader('connection', 'close');
        if (status === 405) response.setHeader('allow', 'POST');
        response.writeHead(status).end();
      },
      // The sender left, or was too slow: there is nobody to answer.
      () => response.destroy(),
    );
  });
  server.maxConnections = CONNECTIONS_MAX;
  return server;
}

/** @returns false when the body is larger than any of Helius's */
async function takeBody(request: IncomingMessage): Promise<boolean> {
  let bytes = 0;
  for await (const chunk of request.iterator({ destroyOnReturn: false })) {
    bytes += (chunk as Buffer).length;
    if (bytes > BODY_BYTES_MAX) return false;
  }
  return true;
}

/** Of equal length whatever is given, and telling nothing about it by the time that it takes. */
function sha256(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
