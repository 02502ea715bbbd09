/**
 * Where to post: `…/v1` (or any other base) gets `/chat/completions` appended, a bare host
 * `/v1/chat/completions`, and a full address stays as it is.
 */
export function chatCompletionsUrl(base: string): string {
  const url = new URL(base);
  const path = url.pathname.replace(/\/+$/, '');
  if (!path.endsWith('/chat/completions')) url.pathname = `${path || '/v1'}/chat/completions`;
  return url.href;
}
