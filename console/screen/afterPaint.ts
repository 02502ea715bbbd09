/**
 * Does what takes long once the browser has painted what stands there: the document, or the press that
 * asked for it. Otherwise a slow browser paints that together with everything that comes of it.
 */
export function afterPaint(work: () => void): void {
  // A frame's own callbacks come before its paint.
  requestAnimationFrame(() => setTimeout(work));
}
