import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { parseChatCompletion } from '../../api/contracts/chatCompletion.ts';
import { chatCompletion } from '../../api/contracts/completionAnswer.ts';
import { chatForWorker } from '../../api/jobs/admission.ts';
import { IDL, wordsOf } from '../../programs/client/codec.ts';
import { canonicalJson, type Json, LEVELS_MAX } from '../../programs/client/proof.ts';
import { checkout } from '../../programs/tools/artifacts.ts';
import { needs } from '../../testing/machine/needs.ts';
import { BODY, pageExamples, REQUEST } from './pageExamples.ts';
import { pageTables, ruleNames } from './pageTables.ts';
import { VERIFIER, verifyInPython } from './runInPython.ts';
import { COMMITTED } from './vectors/committed.ts';

const page = readFileSync(join(checkout, 'docs/receipt.md'), 'utf8');
const block = (json: string): string => `\`\`\`json\n${json}\n\`\`\`\n`;
/** The names in the first cells of a section's tables. */
const namesIn = (section: string): string[] =>
  [...section.matchAll(/^\| ((?:`[\w.]+`(?:, )?)+) \|/gm)].flatMap(([, cell = '']) =>
    [...cell.matchAll(/`([\w.]+)`/g)].map(([, name = '']) => name),
  );
const sectionOf = (title: string): string => page.split(`\n${title}\n`)[1]?.split(/\n#+ /)[0] ?? '';

describe('the page of the receipt', () => {
  it.each(pageTables().map((table) => [String(table.split('"')[1]), table] as const))(
    'has the layouts of the published interface, from %s on',
    (_first, table) => {
      expect(page).toContain(block(table));
    },
  );

  it('has an example with the bytes that the client computes', () => {
    const examples = pageExamples();
    expect(page).toContain(block(BODY));
    expect(page).toContain(block(JSON.stringify(examples, null, 2)));
    const given = chatForWorker(parseChatCompletion(JSON.parse(BODY)));
    const canonical = canonicalJson({ ...given, token_limit: REQUEST.token_limit });
    expect(canonical).toBe(canonicalJson(REQUEST as Json));
    expect(examples['canonical request']).toBe(canonical);
  });

  it('has every rule, and no other', () => {
    const rules = page.slice(page.indexOf('\n## The rules'), page.indexOf('\n## The vectors'));
    const named = namesIn(rules).filter((name) => name.includes('.'));
    expect(named.toSorted()).toEqual(ruleNames().toSorted());
  });

  it('has every field of an answer’s evidence', () => {
    const fields = Object.keys(chatCompletion.shape.svc.shape);
    expect(namesIn(sectionOf('### What an answer says'))).toEqual(fields);
  });

  it('has every type that the layouts have, and no other', () => {
    const used = pageTables().flatMap((table) =>
      [...table.matchAll(/"\w+:([a-z]\w*)"/g)].map(([, type = '']) => type),
    );
    const rows = sectionOf('## Events').match(/^\| `.+?\|/gm) ?? [];
    const listed = rows.flatMap((row) =>
      [...row.matchAll(/`(\w+)`/g)].map(([, type = '']) => type),
    );
    // `bytes16`, `bytes32` and so on.
    const ofOneKind = (type: string) => type.replace(/^bytes\d+$/, 'bytes');
    expect(new Set(listed.map(ofOneKind))).toEqual(new Set(used.map(ofOneKind)));
  });

  it('and the Python file have the words of the published interface', () => {
    const rows = readFileSync(VERIFIER, 'utf8').replaceAll('\n  ', ' ');
    for (const { name, type } of IDL.types) {
      if (type.kind === 'enum') expect(rows).toContain(`\n${name} ${wordsOf(name).join(' ')}\n`);
    }
  });

  it('has every kind of case of the vectors, and each field of its result', () => {
    const rows = sectionOf('## The vectors').split('\n');
    for (const { kind, expected } of COMMITTED.cases) {
      const row = rows.find((one) => one.startsWith(`| \`${kind}\` |`)) ?? '';
      const fields = 'refused' in expected ? [] : Object.keys(expected);
      expect([kind, ...fields].filter((name) => !row.includes(`\`${name}\``))).toEqual([]);
    }
  });

  it('has the limit of levels', () => {
    expect(page.split(`${LEVELS_MAX} levels`)).toHaveLength(3);
  });

  needs('python3-cryptography').it('shows the options that the Python file has', async () => {
    const { output } = await verifyInPython(['--help']);
    const options = page.match(/(?<=\s)--[a-z]+(?=[\s`])/g) ?? [];
    expect(options.length).toBeGreaterThan(4);
    for (const option of options) expect(output).toContain(option);
  });
});
