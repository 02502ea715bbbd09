import type { RequestHandler } from 'express';
import { errorTable } from '../errors.ts';

/** GET /docs/errors: the page that every error's `docs` link leads to, made from the one table. */
export function getErrorDocs(): RequestHandler {
  const entries = Object.entries(errorTable).map(
    ([code, { status, type, meaning }]) =>
      `<h2 id="${code}"><code>${code}</code></h2>\n` +
      `<p>Status ${status}, type <code>${type}</code>.</p>\n<p>${escapeHtml(meaning)}</p>`,
  );
  const page = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<title>Errors</title>
<h1>Errors</h1>
<p>Every error has the body <code>{"error": {"code", "message", "type", "param", "docs", "details"}}</code>.
All 5xx are safe to retry. A 4xx is not resolved by repeating the same request.</p>
${entries.join('\n')}
</html>
`;
  return (_request, response) => {
    response.type('html').send(page);
  };
}

function escapeHtml(text: string): string {
  return text.replace(/[&<>]/g, (sign) => `&#${sign.charCodeAt(0)};`);
}
