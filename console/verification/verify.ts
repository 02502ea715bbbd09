import {
  type Check,
  type ClientEvidence,
  connectLedger,
  connectRpc,
  createAddresses,
  gatherEvidence,
  gatherModel,
  JobNotLocatedError,
  type JobSummary,
  locateJob,
  NoAnswerError,
  PublicKey,
  type SentRequest,
  verifyJob,
} from '@svc-inference/client/verify';

/** What is to be verified, and by which node. */
export interface Request {
  readonly rpcUrl: string;
  readonly programId: string;
  /** A job id, a job's address, or the signature of one of its transactions. */
  readonly named: string;
  readonly wallet?: string | undefined;
  /** The text as it was received; undefined leaves it out. */
  readonly text?: string | undefined;
  readonly receipt?: string | undefined;
  /** 64 hex digits. */
  readonly salt?: string | undefined;
  /** What was asked, of a saved request. */
  readonly request?: Saved<SentRequest> | undefined;
  /** 64 hex digits. */
  readonly answerDetails?: string | undefined;
  /** What a saved answer gives to compare. */
  readonly answer?: Saved<ClientEvidence> | undefined;
  /** The card of its model, as JSON. */
  readonly card?: Saved<string> | undefined;
}

/** What a file held. */
export interface Saved<Content> {
  readonly file: string;
  readonly content: Content;
}

export interface Verification {
  readonly job: JobSummary;
  readonly checks: readonly Check[];
  readonly slot: bigint;
  readonly reads: number;
  readonly durationMs: number;
}

/** Any node takes long to look through all accounts of a program. */
const TIMEOUT_MS = 20_000;

/** Nothing was verified; the message says why. */
class NotVerifiedError extends Error {
  override name = 'NotVerifiedError';
}

/**
 * Verifies a job by what one node says. The text is hashed here and goes nowhere.
 *
 * @throws NotVerifiedError when there is no such job, or the node does not answer
 */
export async function verify(request: Request): Promise<Verification> {
  const { rpcUrl, named, text, receipt, salt, answerDetails, answer } = request;
  const startedAtMs = performance.now();
  let reads = 0;
  const rpc = connectRpc({ url: parseUrl(rpcUrl), timeoutMs: TIMEOUT_MS });
  const connection = connectLedger({
    ask(...question) {
      reads += 1;
      return rpc.ask(...question);
    },
  });
  try {
    const addresses = createAddresses(parseKey(request.programId, "The program's id"));
    const wallet = request.wallet ? parseKey(request.wallet, 'The wallet') : undefined;
    const job = await locateJob({ connection, addresses, named: named.trim(), wallet });
    const gathered = await gatherEvidence({ connection, addresses, job });
    const card = request.card?.content;
    const asked = request.request?.content;
    const isOfModel = card !== undefined || asked !== undefined;
    // A question is compared with the context window alone.
    const reading = {
      connection,
      evidence: gathered,
      ...(card === undefined && { historyMax: 0 }),
    };
    const evidence = isOfModel ? await gatherModel(reading) : gathered;
    const {
      checks,
      job: summary,
      events,
    } = verifyJob(evidence, {
      ...answer?.content,
      output: text === undefined ? undefined : new TextEncoder().encode(text),
      receipt: receipt?.trim(),
      request: asked,
      salt: salt === undefined ? undefined : parseHash(salt, 'The salt has'),
      ...(answerDetails && {
        answerDetails: parseHash(answerDetails, 'The answer details have'),
      }),
      card,
    });
    if (events.length === 0 && evidence.account.kind === 'none') {
      throw new NotVerifiedError(`The node knows no job at ${summary.address}.`);
    }
    return {
      job: summary,
      checks,
      slot: evidence.slot,
      reads,
      durationMs: Math.round(performance.now() - startedAtMs),
    };
  } catch (error) {
    throw explain(error);
  }
}

function parseUrl(text: string): string {
  if (URL.canParse(text) && /^https?:/.test(text)) return text;
  throw new NotVerifiedError("The node's address has to begin with https:// or http://.");
}

const HEX_HASH = /^[0-9a-f]{64}$/i;

function parseHash(text: string, what: string): Uint8Array {
  if (HEX_HASH.test(text))
    return Uint8Array.from(text.match(/../g) ?? [], (pair) => Number(`0x${pair}`));
  throw new NotVerifiedError(`${what} to be 64 hex digits.`);
}

function parseKey(text: string, what: string): PublicKey {
  try {
    return new PublicKey(text.trim());
  } catch {
    throw new NotVerifiedError(`${what} is not a ledger address.`);
  }
}

function explain(error: unknown): Error {
  if (error instanceof NotVerifiedError) return error;
  if (error instanceof JobNotLocatedError) return new NotVerifiedError(error.message);
  if (error instanceof NoAnswerError) {
    const words = 'The node does not answer this page. It may be away, or not allow other sites.';
    return new NotVerifiedError(words, { cause: error });
  }
  const words = error instanceof Error ? error.message : String(error);
  return new NotVerifiedError(`The node's answer cannot be used: ${words}`, { cause: error });
}

/** The command that does the same verification where `svc` is installed. */
export function commandOf({ rpcUrl, programId, named, wallet, ...given }: Request): string {
  const { answer, request, card, text, receipt, salt, answerDetails } = given;
  const parts = ['npx --no svc verify', quote(named.trim()), '--rpc', quote(rpcUrl)];
  if (programId) parts.push('--program', quote(programId));
  if (wallet) parts.push('--wallet', quote(wallet));
  if (answer) parts.push('--response', quote(answer.file));
  if (request) parts.push('--request', quote(request.file));
  if (card) parts.push('--card', quote(card.file));
  // The rest is in the answer.
  if (answer) return parts.join(' ');
  if (text !== undefined) parts.push('--output', 'answer.txt');
  if (receipt) parts.push('--receipt', quote(receipt.trim()));
  if (request && salt) parts.push('--salt', quote(salt));
  if (request && answerDetails) parts.push('--answer-details', quote(answerDetails));
  return parts.join(' ');
}

/** Quotes an argument for a shell, unless it is of letters and digits alone. */
function quote(text: string): string {
  return /^[\w./:@=+-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}
