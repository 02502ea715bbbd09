import { readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { z } from 'zod';
import { routes } from '../../../api/contracts/index.ts';
import { pageAccess, type Route } from '../../../api/contracts/route.ts';

const served = Object.values<Route>(routes);

describe('the contracts of the web app', () => {
  it('are listed in docs/console.md, each with its access and its summary', () => {
    const page = readFileSync('docs/console.md', 'utf8');
    const listed = page
      .split('\n')
      .filter((line) => /^\| `(GET|POST|PUT|PATCH|DELETE) /.test(line));
    const ofPages = served.filter((one) => pageAccess(one) !== undefined);
    const expected = ofPages.map(
      (one) => `| \`${one.method} ${one.path}\` | ${pageAccess(one)} | ${one.summary} |`,
    );
    expect(listed).toEqual(expected);
  });

  it('name each route once, and describe either a JSON answer or another form', () => {
    const names = served.map(({ method, path }) => `${method} ${path}`);
    expect(new Set(names).size).toBe(names.length);
    const undescribed = served.filter(
      ({ answer, form }) => answer === undefined && form === undefined,
    );
    expect(undescribed).toEqual([]);
  });

  it('have answers that JSON Schema can express', () => {
    const schemas = served.flatMap(({ answer }) => (answer ? z.toJSONSchema(answer) : []));
    expect(schemas.every(({ type }) => type === 'object')).toBe(true);
  });
});
