import { afterPaint } from '../screen/afterPaint.ts';

/** Starts after the document's first paint, which evaluating the app's code would delay. */
const start = () => void import('./main.tsx');

// A hidden document is not painted, so there is nothing to wait for.
if (document.hidden) start();
else afterPaint(start);
