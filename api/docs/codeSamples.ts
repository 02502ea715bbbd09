import { readFileSync } from 'node:fs';
import type { CodeSample } from './openApi.ts';

const languages = [
  { lang: 'shell', label: 'curl', folder: 'curl', extension: 'sh' },
  { lang: 'python', label: 'Python', folder: 'python', extension: 'py' },
  { lang: 'typescript', label: 'TypeScript', folder: 'typescript', extension: 'ts' },
] as const;

/** Which of `examples/api` show an operation, by its id. */
const topics: Record<string, readonly string[]> = {
  createChatCompletion: ['completion', 'stream', 'idempotency', 'errors'],
  listModels: ['models'],
  listJobs: ['job'],
  getJob: ['job'],
  disputeJob: ['dispute'],
  getAccount: ['job'],
};

/**
 * The examples of one operation, by topic and language; none for an operation without any.
 *
 * @throws when a file is not there, so that no start hides it
 */
export function codeSamples(operationId: string): CodeSample[] {
  return (topics[operationId] ?? []).flatMap((topic) =>
    languages.map(({ lang, label, folder, extension }) => {
      const file = `../../examples/api/${folder}/${topic}.${extension}`;
      const source = readFileSync(new URL(file, import.meta.url), 'utf8');
      return { lang, label: `${label}: ${topic}`, source };
    }),
  );
}
