import { afterPaint } from '../screen/afterPaint.ts';

/** The document paints its own text first: the app's code alone takes a slow browser longer than that. */
const start = () => void import('./main.tsx');

// A hidden document is not painted, so there is nothing to wait for.
if (document.hidden) start();
else afterPaint(start);
