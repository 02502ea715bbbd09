import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { checkout } from '../documents.ts';

/** Where a page leaves out what does not matter, a value may be missing. */
const fillIn = (json: string): string => json.replaceAll('{…}', '{}').replaceAll(' … ', ' ');

/** Each line must have one of the forms. @throws Error with the first that has none */
function assertLines(lines: readonly string[], forms: readonly RegExp[]): void {
  for (const line of lines) {
    if (!forms.some((form) => form.test(line))) throw new Error(`this line has no form: ${line}`);
  }
}

/** A request: its line, its headers, and a body of JSON. */
export function checkDelivery(message: string): void {
  const [head = '', body = ''] = message.split('\n\n');
  const [request = '', ...headers] = head.split('\n');
  assertLines([request], [/^(GET|POST|DELETE) \/\S* HTTP\/1\.1$/]);
  assertLines(headers, [/^[a-z-]+: \S.*$/]);
  JSON.parse(fillIn(body));
}

/** Server-sent events with data of JSON. */
export function checkStream(stream: string): void {
  for (const event of stream.trimEnd().split('\n\n')) {
    const lines = event.split('\n');
    assertLines(lines, [/^(event|data): \S/]);
    for (const line of lines.filter((each) => each.startsWith('data: '))) {
      JSON.parse(fillIn(line.slice('data: '.length)));
    }
  }
}

/** Settings of a service: sections, names with values, and comments. */
export function checkUnit(unit: string): void {
  assertLines(unit.trimEnd().split('\n'), [/^$/, /^[#;]/, /^\[\w+\]$/, /^\w+=/]);
}

interface Rules {
  groups: { rules: { expr: string }[] }[];
}

/** Each is the condition of an alert, which `promtool` tries (`tests/deploy/operation.test.ts`). */
export function checkAlerts(expressions: string): void {
  const file = readFileSync(join(checkout, 'deploy/prometheus/rules.yml'), 'utf8');
  const rules = (parse(file) as Rules).groups.flatMap((group) => group.rules);
  const conditions = rules.map(({ expr }) => oneLine(expr));
  for (const expression of expressions.split('\n\n').map(oneLine)) {
    assert(conditions.includes(expression), `no alert has the condition ${expression}`);
  }
}

const oneLine = (text: string): string => text.trim().replaceAll(/\s+/g, ' ');

const NODE = /\w+(?:\["[^"]+"\]|\[\("[^"]+"\)\])?/.source;
const STATE = /(?:\[\*\]|\w+)/.source;

/** The forms of a line in each kind of diagram, as far as the documents use them. */
const DIAGRAMS: Readonly<Record<string, readonly RegExp[]>> = {
  'flowchart LR': [new RegExp(`^  ${NODE} -- (?:"[^"]+"|[\\w ]+) --> ${NODE}$`)],
  'stateDiagram-v2': [new RegExp(`^  ${STATE} --> ${STATE}(?:: \\S.*)?$`)],
  sequenceDiagram: [/^ {2}participant \w+ as \S.*$/, /^ {2}\w+--?>>\w+: [^;#]+$/],
};

export function checkDiagram(diagram: string): void {
  const [kind = '', ...lines] = diagram.trimEnd().split('\n');
  const forms = DIAGRAMS[kind];
  if (!forms) throw new Error(`nothing checks the diagram '${kind}'`);
  assertLines(lines, forms);
}
