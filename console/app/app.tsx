import { Component, type ReactNode } from 'react';
import { Redirect, Route, Switch } from 'wouter';
import { ErrorNotice } from '../design/notice.tsx';
import { SignedIn } from '../session/signedIn.tsx';
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

/** Shows an error of a page in its place, and leaves the rest of the app as it is. */
class ErrorBoundary extends Component<
  { readonly children: ReactNode },
  { readonly error: unknown }
> {
  override state = { error: undefined };

  static getDerivedStateFromError(error: unknown) {
    return { error };
  }

  override render() {
    if (this.state.error === undefined) return this.props.children;
    return (
      <ErrorNotice
        error={this.state.error}
        money="This page has failed. It only shows things, and moved no credits."
        onRetry={() => this.setState({ error: undefined })}
      />
    );
  }
}
