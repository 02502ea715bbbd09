import '../design/base.css';
import { CSPProvider } from '@base-ui/react/csp-provider';
import { QueryClientProvider } from '@tanstack/react-query';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { createQueryClient } from '../data/queries.ts';
import { loadFonts } from '../screen/loadFonts.ts';
import { SessionProvider } from '../session/session.tsx';
import { watchWallets } from '../wallet/wallets.ts';
import { App } from './app.tsx';
import { hasSession, readEarly, readOnce } from './earlyReads.ts';
import { PAGES, pathOf } from './pages.tsx';
import { applyTheme, followTheme } from './theme.ts';

/** How long to wait for answers that the document requested at its start. */
const ANSWERS_MS = 100;

loadFonts();
applyTheme();
followTheme();
watchWallets();

const client = createQueryClient();
const { pathname, search } = window.location;
const path = pathOf(pathname);
const read = readEarly(client, { path, isFiltered: search !== '' });
const page = path && PAGES[path];
const code = page?.Content.load().catch(() => undefined);
// Without a session a wallet's page asks for a sign-in: the document stays until that is known.
if (page?.access === 'wallet') await readOnce(client, '/session');
// Until then the document shows navigation and title, and the page comes into it as a whole. Where its code
// cannot be loaded, the page says so in its place. A sign-in takes no code of the page.
if (page?.access !== 'wallet' || hasSession(client)) await code;
// Answers that come within this time are drawn at once: drawing the page twice takes longer.
await Promise.race([read, new Promise((resolve) => setTimeout(resolve, ANSWERS_MS))]);

const root = document.getElementById('root');
if (root === null) throw new Error('The document has no root');
createRoot(root).render(
  <StrictMode>
    <CSPProvider disableStyleElements>
      <QueryClientProvider client={client}>
        <SessionProvider>
          <App />
        </SessionProvider>
      </QueryClientProvider>
    </CSPProvider>
  </StrictMode>,
);
