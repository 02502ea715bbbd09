import { lazy, Suspense, useState } from 'react';
import { Redirect, Route, Switch } from 'wouter';
import { Loading } from '../design/notice.tsx';
import { SignedIn } from '../session/signedIn.tsx';
import { ErrorBoundary } from './errorBoundary.tsx';
import { Layout } from './layout.tsx';
import { PAGES } from './pages.ts';
import { useShortcuts } from './shortcuts.ts';

const Palette = lazy(() => import('./palette.tsx'));
const ShortcutsDialog = lazy(() => import('./shortcutsDialog.tsx'));

export function App() {
  const [open, setOpen] = useState<'palette' | 'shortcuts'>();
  useShortcuts({ onPalette: () => setOpen('palette'), onHelp: () => setOpen('shortcuts') });
  const close = () => setOpen(undefined);
  return (
    <Layout onPalette={() => setOpen('palette')}>
      <Switch>
        {Object.entries(PAGES).map(([path, { component: Page, access }]) => (
          <Route path={path} key={path}>
            <ErrorBoundary>
              <Suspense fallback={<Loading what="the page" />}>
                {access === 'public' ? (
                  <Page />
                ) : (
                  <SignedIn>
                    <Page />
                  </SignedIn>
                )}
              </Suspense>
            </ErrorBoundary>
          </Route>
        ))}
        <Route>
          <Redirect to="/console" replace />
        </Route>
      </Switch>
      <Suspense>
        {open === 'palette' && <Palette onClose={close} />}
        {open === 'shortcuts' && <ShortcutsDialog onClose={close} />}
      </Suspense>
    </Layout>
  );
}
