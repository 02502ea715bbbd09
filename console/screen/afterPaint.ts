/**
 * Does what takes long once the press that asked for it shows: otherwise a slow browser draws the
 * pressed button together with everything that comes of it.
 */
export function afterPaint(work: () => void): void {
  // A frame's own callbacks come before its paint.
  requestAnimationFrame(() => setTimeout(work));
}
