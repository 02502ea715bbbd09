import type { ServerResponse } from 'node:http';
import type { Response } from 'express';
import { type ApiError, type ErrorCode, errorBody, errorHeaders } from '../contracts/errors.ts';

/** The one form in which an error becomes a response. */
export function sendError(response: Response, error: ApiError, publicUrl: string): void {
  noteError(response, error);
  // HTTP wants every 401 to say how to authenticate.
  if (error.status === 401) response.set('www-authenticate', 'Bearer');
  response.status(error.status).set(errorHeaders(error)).json(errorBody(error, publicUrl));
}

/** Remembers with which error a response ends, for those who count and log requests. */
export function noteError(response: Response, { code }: ApiError): void {
  response.locals.errorCode = code;
}

/** Remembers that the client has its whole answer, though the response goes on for a moment. */
export function noteWhole(response: Response): void {
  response.locals.isWhole = true;
}

/** Whether the client got all that it asked for, whoever closed the connection. */
export function wasAnswered(response: Response): boolean {
  return response.writableFinished || response.locals.isWhole === true;
}

/** The code of the error that the response ended with, in its body or at the end of its stream. */
export function errorCodeOf(response: Response): ErrorCode | undefined {
  return response.locals.errorCode;
}

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
