import '../design/base.css';
import { CSPProvider } from '@base-ui/react/csp-provider';
import { QueryClientProvider } from '@tanstack/react-query';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { createQueryClient, keyOf } from '../data/queries.ts';
import { type AnswerOf, call } from '../data/request.ts';
import { loadFonts } from '../screen/loadFonts.ts';
import { SessionProvider } from '../session/session.tsx';
import { watchWallets } from '../wallet/wallets.ts';
import { App } from './app.tsx';
import { PAGES, pathOf } from './pages.tsx';

loadFonts();
watchWallets();

const client = createQueryClient();
const path = pathOf(window.location.pathname);
const page = path && PAGES[path];
const code = page?.Content.load().catch(() => undefined);
// Without a session a wallet's page asks for a sign-in: the document stays until that is known.
const queryKey = keyOf('/session');
const queryFn = () => call('GET', '/session');
if (page?.access === 'wallet') await client.prefetchQuery({ queryKey, queryFn, retry: false });
// Until then the document shows navigation and title, and the page comes into it as a whole. Where its code
// cannot be loaded, the page says so in its place. A sign-in takes no code of the page.
const answer = client.getQueryData<AnswerOf<'GET', '/session'>>(queryKey);
if (page?.access !== 'wallet' || answer?.session) await code;

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
