import '../design/base.css';
import { CSPProvider } from '@base-ui/react/csp-provider';
import { QueryClientProvider } from '@tanstack/react-query';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { createQueryClient } from '../data/queries.ts';
import { loadFonts } from '../design/loadFonts.ts';
import { SessionProvider } from '../session/session.tsx';
import { watchWallets } from '../wallet/wallets.ts';
import { App } from './app.tsx';
import { applyTheme } from './theme.ts';

loadFonts();
applyTheme();
watchWallets();

const root = document.getElementById('root');
if (root === null) throw new Error('The document has no root');
createRoot(root).render(
  <StrictMode>
    <CSPProvider disableStyleElements>
      <QueryClientProvider client={createQueryClient()}>
        <SessionProvider>
          <App />
        </SessionProvider>
      </QueryClientProvider>
    </CSPProvider>
  </StrictMode>,
);
