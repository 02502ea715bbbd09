import { Redirect, Route, Switch } from 'wouter';
import { SignedIn } from '../session/signedIn.tsx';
import { ErrorBoundary } from './errorBoundary.tsx';
import { Layout } from './layout.tsx';
import { PAGES } from './pages.tsx';

export function App() {
  return (
    <Layout>
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
    </Layout>
  );
}
