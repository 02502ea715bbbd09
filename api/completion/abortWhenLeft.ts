import type { ServerResponse } from 'node:http';

/**
 * Aborts when the client closes its connection before its answer was sent; at once where it did so
 * already, as it may while a compressed body is unpacked: then there is no event any more.
 */
export function abortWhenLeft(response: ServerResponse): AbortSignal {
  const controller = new AbortController();
  const leave = (): void => {
    if (!response.writableFinished) controller.abort();
  };
  if (response.closed) leave();
  else response.once('close', leave);
  return controller.signal;
}
