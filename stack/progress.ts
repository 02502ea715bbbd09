import { STACK_FOLDER, type StackDescription } from './stackFile.ts';

/** Tells whoever waits at the terminal what is up, and since when. */
export type Say = (what: string, detail: string) => void;

const COLUMN = 10;

/** @param write takes a finished line */
export function createProgress(write: (line: string) => void): Say {
  const startMs = performance.now();
  return (what, detail) => {
    const seconds = ((performance.now() - startMs) / 1_000).toFixed(1).padStart(5);
    write(`${seconds} s  ${what.padEnd(COLUMN)}${detail}`);
  };
}

/** The last lines of a start: a request that works as it stands, and how to stop. */
export function describeRunning({ baseUrl, apiKey, model }: StackDescription): string {
  const body = { model, messages: [{ role: 'user', content: 'Say hello.' }] };
  return `
Try it:

curl -s ${baseUrl}/v1/chat/completions -H 'Authorization: Bearer ${apiKey}' -H 'Content-Type: application/json' -d '${JSON.stringify(body)}'

Everything else is in ${STACK_FOLDER}/stack.json. Ctrl-C ends everything.
`;
}
