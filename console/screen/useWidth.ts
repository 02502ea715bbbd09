import { type RefObject, useLayoutEffect, useState } from 'react';

/** What a `rem` is at present, in pixels: it grows with the text. */
export const remPx = () => Number.parseFloat(getComputedStyle(document.documentElement).fontSize);

/** The width of an element in pixels, before it is first painted and whenever it changes. */
export function useWidth(element: RefObject<Element | null>): number | undefined {
  const [width, setWidth] = useState<number>();
  useLayoutEffect(() => {
    const { current } = element;
    if (current === null) return;
    const measure = () => setWidth(current.getBoundingClientRect().width);
    measure();
    const observer = new ResizeObserver(measure);
    observer.observe(current);
    return () => observer.disconnect();
  }, [element]);
  return width;
}
