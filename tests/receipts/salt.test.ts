import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { base58 } from '@scure/base';
import { PROGRAM_ID } from '../../programs/client/index.ts';
import { bytesToHex, concatBytes, hexToBytes, utf8 } from '../../programs/client/platform/bytes.ts';
import { sha256 } from '../../programs/client/platform/node.ts';
import { canonicalJson, type Json, requestCommitment } from '../../programs/client/proof.ts';
import { statementOf } from '../../programs/client/statement.ts';
import { callLedger } from '../../testing/ledger/ledger.ts';
import { createRandom } from '../../testing/random.ts';
import { type RunningService, startRunningService } from '../../testing/service/runningService.ts';

const { seed, below } = createRandom();
const TOKEN_LIMIT = 200;

const SYLLABLES = 'sky sun mo ra li to be nu ka fi so da we vo'.split(' ');

/** Two syllables. */
function wordOf(number: number): string {
  const at = (index: number) => SYLLABLES[index % SYLLABLES.length];
  return `${at(Math.floor(number / SYLLABLES.length))}${at(number)}`;
}

/** Short questions, as anybody may guess them. */
const DICTIONARY = ['What is', 'Define', 'Translate', 'Who invented', 'How old is', 'Why'].flatMap(
  (start) =>
    ['the', 'a', 'my'].flatMap((article) =>
      [...Array(200).keys()].map((number) => `${start} ${article} ${wordOf(number)}?`),
    ),
);

interface Asked {
  readonly question: string;
  readonly salt: Uint8Array;
  /** The half of the statement that anybody may guess, too. */
  readonly answerDetails: Uint8Array;
}

let service: RunningService;
let asked: Asked[];
/** Every 32 bytes in a row that the ledger shows, in hex. */
let onLedger: Set<string>;

beforeAll(async () => {
  service = await startRunningService();
  const questions = Array.from({ length: 8 }, () => DICTIONARY[below(DICTIONARY.length)] as string);
  asked = await Promise.all([...questions, questions[0] as string].map(ask));
  onLedger = await readLedger();
});
afterAll(() => service?.close());

const bodyOf = (question: string) => ({
  model: service.model.id,
  messages: [{ role: 'user' as const, content: question }],
  temperature: 0,
});

async function ask(question: string): Promise<Asked> {
  const answer = await service
    .openai()
    .chat.completions.create({ ...bodyOf(question), max_tokens: TOKEN_LIMIT });
  const { svc } = answer as unknown as { svc: Record<'request_salt' | 'answer_details', string> };
  const { request_salt, answer_details } = svc;
  return { question, salt: hexToBytes(request_salt), answerDetails: hexToBytes(answer_details) };
}

/** Everything about the program that a node shows: its transactions, their calls, its accounts. */
async function readLedger(): Promise<Set<string>> {
  const { connection, rpcUrl } = service.ledger;
  const parts: Uint8Array[] = [];
  for (const { signature } of await connection.getSignaturesForAddress(PROGRAM_ID)) {
    const { transaction, meta } = await callLedger<Shown>(rpcUrl, 'getTransaction', [
      signature,
      { encoding: 'base64', commitment: 'confirmed', maxSupportedTransactionVersion: 1 },
    ]);
    parts.push(Buffer.from(transaction[0], 'base64'));
    for (const { instructions } of meta.innerInstructions) {
      parts.push(...instructions.map(({ data }) => base58.decode(data)));
    }
  }
  const accounts = await connection.getProgramAccounts(PROGRAM_ID);
  parts.push(...accounts.map(({ account }) => account.data));
  return new Set(parts.flatMap(windowsOf));
}

interface Shown {
  readonly transaction: readonly [base64: string];
  readonly meta: { readonly innerInstructions: readonly { instructions: { data: string }[] }[] };
}

const windowsOf = (bytes: Uint8Array): string[] => {
  const hex = bytesToHex(bytes);
  return Array.from({ length: Math.max(0, bytes.length - 31) }, (_, at) =>
    hex.slice(2 * at, 2 * at + 64),
  );
};

const requestOf = (question: string): Json => ({ ...bodyOf(question), token_limit: TOKEN_LIMIT });

/** What is proven of an answer to this question. */
const statementOn = (question: string, { salt, answerDetails }: Omit<Asked, 'question'>) =>
  statementOf({ requestCommitment: requestCommitment(salt, requestOf(question)), answerDetails });

/** The questions of the dictionary of which the ledger shows one of these hashes. */
const guess = (hashesOf: (question: string) => readonly Uint8Array[]): string[] =>
  DICTIONARY.filter((question) =>
    hashesOf(question).some((hash) => onLedger.has(bytesToHex(hash))),
  );

describe(`a short question (seed ${seed})`, () => {
  it('has another commitment each time that it is asked', () => {
    const commitments = asked
      .filter(({ question }) => question === asked[0]?.question)
      .map(({ question, ...opened }) => bytesToHex(statementOn(question, opened)));
    expect(new Set(commitments).size).toBeGreaterThan(1);
    for (const commitment of commitments) expect(onLedger.has(commitment)).toBe(true);
  });

  it('cannot be guessed by the ledger alone', () => {
    const salts = saltsThatAreKnown();
    const [{ answerDetails: details } = { answerDetails: new Uint8Array(32) }] = asked;
    const found = guess((question) => {
      const inner = sha256(utf8(canonicalJson(requestOf(question))));
      const salted = salts.map((salt) => sha256(concatBytes(salt, inner)));
      const halves = [inner, sha256(inner), ...salted];
      return halves.flatMap((half) => [
        half,
        statementOf({ requestCommitment: half, answerDetails: details }),
      ]);
    });
    expect(found).toEqual([]);
  });

  it('is found by its salt', () => {
    const found = guess((question) => asked.map((opened) => statementOn(question, opened)));
    const questions = new Set(asked.map(({ question }) => question));
    expect(new Set(found)).toEqual(questions);
  });
});

/** What somebody without the salt may try: zeros, and each key of the program's parties. */
function saltsThatAreKnown(): Uint8Array[] {
  const { wallet, hotSigner, workers, operator } = service;
  const keys = [wallet.publicKey, hotSigner.publicKey, operator.authority.publicKey, PROGRAM_ID];
  return [
    ...[new Uint8Array(), new Uint8Array(32)],
    ...keys.map((key) => key.toBytes()),
    ...workers.map(({ address }) => base58.decode(address)),
  ];
}
