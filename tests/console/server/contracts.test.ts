import { readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { z } from 'zod';
import { consoleRoutes } from '../../../api/console/contracts/index.ts';
import type { ConsoleRoute } from '../../../api/console/contracts/route.ts';

const routes = Object.values<ConsoleRoute>(consoleRoutes);

describe('the contracts of the web app', () => {
  it('are listed in docs/console.md, each with its access and its summary', () => {
    const page = readFileSync('docs/console.md', 'utf8');
    const listed = page
      .split('\n')
      .filter((line) => /^\| `(GET|POST|PUT|PATCH|DELETE) /.test(line));
    const expected = routes.map(
      ({ method, path, access, summary }) => `| \`${method} ${path}\` | ${access} | ${summary} |`,
    );
    expect(listed).toEqual(expected);
  });

  it('name each route once, and describe either a JSON answer or another form', () => {
    const names = routes.map(({ method, path }) => `${method} ${path}`);
    expect(new Set(names).size).toBe(names.length);
    const undescribed = routes.filter(
      ({ answer, form }) => (answer === undefined) === (form === undefined),
    );
    expect(undescribed).toEqual([]);
  });

  it('have answers that JSON Schema can express', () => {
    const schemas = routes.flatMap(({ answer }) => (answer ? z.toJSONSchema(answer) : []));
    expect(schemas.every(({ type }) => type === 'object')).toBe(true);
  });
});
