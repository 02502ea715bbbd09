import { Component, type ReactNode } from 'react';
import { ErrorNotice } from '../design/notice.tsx';

/** Shows an error of a page in its place, and leaves the rest of the app as it is. */
export class ErrorBoundary extends Component<
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
