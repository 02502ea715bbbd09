import { describe, expect, it } from '@jest/globals';
import { needs } from '../../testing/machine/needs.ts';
import { readSource } from '../tidy/sourceTree.ts';
import { CHECKS, checkBlocks } from './blocks/checkBlocks.ts';
import { type CodeBlock, codeBlocksOf, readDocuments } from './documents.ts';

const { name: webhooks } = JSON.parse(readSource('webhooks/package.json')) as { name: string };
const documents = readDocuments();
const blocks = documents.flatMap(codeBlocksOf);

/** One for each language, and for what the types must know, that a check has to refuse. */
const wrong = [
  ['a language that nothing checks', 'ruby', 'puts 1\n'],
  ['a block that names no language', '', 'npm start\n'],
  [
    'a kind of event that does not exist',
    'ts',
    `import { verifyWebhook } from '${webhooks}';
const event = verifyWebhook({ rawBody, headers, secret });
if (event.event === 'job.settled') console.log(event.data.job_id);
`,
  ],
  ['a name that nothing introduced', 'ts', 'await escrow.refund(nothing);\n'],
  ['JavaScript', 'js', 'const seen = new Set(;\n'],
  ['types in JavaScript', 'js', 'const seen = new Set<string>();\n'],
  ['Python', 'python', 'def verify(:\n'],
  ['a script', 'sh', 'if true; then echo "yes\n'],
  ['a command of a session', 'console', '$ echo $(date\nThu Nov 26\n'],
  ['a session without a command', 'console', 'Earned 6.80 credits\n'],
  ['JSON', 'json', '{ "job_id": job_1 }\n'],
  ['YAML', 'yaml', 'services: [api\n'],
  ["a service's settings", 'ini', '[Service]\nExecStart /usr/bin/node\n'],
  ['a request', 'http', 'POST /webhooks HTTP/1.1\ncontent-type application/json\n\n{}\n'],
  ["a request's body", 'http', 'POST /webhooks HTTP/1.1\na: b\n\n{"id": evt_1}\n'],
  ['an event', 'sse', 'event: proof\ndata: {"output_hash": }\n'],
  ['the condition of no alert', 'promql', 'abs(svc_api_ledger_clock_offset_seconds) > 11\n'],
  ['a diagram', 'mermaid', 'flowchart LR\n  api -> worker\n'],
  ['a kind of diagram', 'mermaid', 'gantt\n  title Plan\n'],
].map(([path = '', language = '', text = '']): CodeBlock => ({ path, line: 1, language, text }));

const python = needs('python3');
const isPython = ({ language }: CodeBlock): boolean => language === 'python';
const checked = [...blocks, ...wrong].filter((block) => python.isMet || !isPython(block));
const faults = await checkBlocks(checked);

describe('the code blocks of the documents', () => {
  it('are all found: no fence is left over', () => {
    for (const document of documents) {
      const fences = document.text.match(/^\s*(?:```|~~~).*$/gm) ?? [];
      expect([document.path, fences.length / 2]).toEqual([
        document.path,
        codeBlocksOf(document).length,
      ]);
    }
  });

  it('are each compiled or parsed, and right', () => {
    expect(new Set(blocks.map(({ path }) => path)).size).toBeGreaterThan(15);
    const found = faults.filter(({ block }) => documents.some(({ path }) => path === block.path));
    expect(found.map(({ block, problem }) => `${block.path}:${block.line}: ${problem}`)).toEqual(
      [],
    );
  });

  const isRefused = ({ path }: CodeBlock) =>
    expect(faults.some(({ block }) => block.path === path)).toBe(true);
  it.each(wrong.filter((block) => !isPython(block)))(
    'are refused when they hold a fault: $path',
    isRefused,
  );
  python.it.each(wrong.filter(isPython))('are refused when they hold a fault: $path', isRefused);

  it('are in languages of which each is tried with a fault', () => {
    const tried = wrong.map(({ language }) => language);
    expect(tried).toEqual(expect.arrayContaining(Object.keys(CHECKS)));
  });
});
