/**
 * Runs long work after the browser's next paint, of the document or of a pressed button. Otherwise a
 * slow browser would paint that only together with the result of the work.
 */
export function afterPaint(work: () => void): void {
  // A frame's own callbacks come before its paint.
  requestAnimationFrame(() => setTimeout(work));
}
