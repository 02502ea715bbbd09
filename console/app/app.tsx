import { useState } from 'react';
import { Redirect, Route, Switch } from 'wouter';
import { dialogOnUse } from '../design/onUse.tsx';
import { afterPaint } from '../screen/afterPaint.ts';
import { SignedIn } from '../session/signedIn.tsx';
import { ErrorBoundary } from './errorBoundary.tsx';
import { Layout } from './layout.tsx';
import { PAGES } from './pages.tsx';
import { useShortcuts } from './shortcuts.ts';

const Palette = dialogOnUse(() => import('./palette.tsx'));
const ShortcutsDialog = dialogOnUse(() => import('./shortcutsDialog.tsx'));

export function App() {
  const [open, setOpen] = useState<'palette' | 'shortcuts'>();
  const show = (what: typeof open) => afterPaint(() => setOpen(what));
  useShortcuts({ onPalette: () => show('palette'), onHelp: () => show('shortcuts') });
  const close = () => setOpen(undefined);
  return (
    <Layout onPalette={() => show('palette')}>
      <Switch>
        {Object.entries(PAGES).map(([path, { Content, access, head, pattern }]) => (
          <Route path={pattern} key={path}>
            <ErrorBoundary>
              {access === 'public' ? (
                <Content />
              ) : (
                <SignedIn head={head}>
                  <Content />
                </SignedIn>
              )}
            </ErrorBoundary>
          </Route>
        ))}
        <Route>
          <Redirect to="/console" replace />
        </Route>
      </Switch>
      {open === 'palette' && <Palette onClose={close} />}
      {open === 'shortcuts' && <ShortcutsDialog onClose={close} />}
    </Layout>
  );
}
