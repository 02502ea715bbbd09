import { type ComponentType, lazy, Suspense, useState } from 'react';
import { Redirect, Route, Switch } from 'wouter';
import { Loading } from '../design/notice.tsx';
import { afterPaint } from '../screen/afterPaint.ts';
import { SignedIn } from '../session/signedIn.tsx';
import { ErrorBoundary } from './errorBoundary.tsx';
import { Layout } from './layout.tsx';
import { PAGES } from './pages.ts';
import { useShortcuts } from './shortcuts.ts';

const Palette = lazy(() => import('./palette.tsx'));
const ShortcutsDialog = lazy(() => import('./shortcutsDialog.tsx'));

/** Found when it is drawn, and not before: by then its code may be there. */
function Page({ component: find }: { readonly component: () => ComponentType }) {
  const Component = find();
  return <Component />;
}

export function App() {
  const [open, setOpen] = useState<'palette' | 'shortcuts'>();
  const show = (what: typeof open) => afterPaint(() => setOpen(what));
  useShortcuts({ onPalette: () => show('palette'), onHelp: () => show('shortcuts') });
  const close = () => setOpen(undefined);
  return (
    <Layout onPalette={() => show('palette')}>
      <Switch>
        {Object.entries(PAGES).map(([path, { component, access, pattern }]) => {
          const page = <Page component={component} />;
          return (
            <Route path={pattern} key={path}>
              <ErrorBoundary>
                <Suspense fallback={<Loading what="the page" />}>
                  {access === 'public' ? page : <SignedIn>{page}</SignedIn>}
                </Suspense>
              </ErrorBoundary>
            </Route>
          );
        })}
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
