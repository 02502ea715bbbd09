import { afterPaint } from '../screen/afterPaint.ts';

/** The document paints its own text first: the app's code alone takes a slow browser longer than that. */
const start = () => void import('./main.tsx');

// Nobody sees what has no paint.
if (document.hidden) start();
else afterPaint(start);
