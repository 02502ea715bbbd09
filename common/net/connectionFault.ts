/** What the codes of connections mean; others stand alone. */
const MEANINGS: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'nothing listens at its address',
  ECONNRESET: 'it closed the connection',
  UND_ERR_SOCKET: 'it closed the connection',
  ENOTFOUND: 'its name is not known',
  EAI_AGAIN: 'its name cannot be looked up',
  EHOSTUNREACH: 'no way leads to its address',
  ETIMEDOUT: 'it did not answer in time',
  UND_ERR_CONNECT_TIMEOUT: 'it did not answer in time',
  TimeoutError: 'it did not answer in time',
};

interface Fault {
  code?: unknown;
  name?: unknown;
  message?: unknown;
  cause?: unknown;
}

/**
 * Why a request by `fetch` or undici got no answer, with the code: `nothing listens at its address
 * (ECONNREFUSED)`. An error's own words may quote an answer or an address, so only its name is kept.
 */
export function describeConnectionFault(error: unknown): string {
  const fault: Fault = Object(error);
  const cause: Fault = Object(fault.cause);
  // The one fault of an address that `fetch` finds by itself, and gives no code.
  if (cause.message === 'bad port') return 'its port is one that fetch refuses';
  // A DOMException's code is a number of another kind.
  const code = [fault.code, cause.code].find((each) => typeof each === 'string');
  const name = String(code ?? fault.name ?? 'unknown');
  const meaning = MEANINGS[name];
  return meaning === undefined ? name : `${meaning} (${name})`;
}
