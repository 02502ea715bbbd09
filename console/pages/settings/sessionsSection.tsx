import type { SessionList } from '../../../api/console/contracts/index.ts';
import { useRead } from '../../data/queries.ts';
import { call } from '../../data/request.ts';
import { useChange } from '../../data/useChange.ts';
import { Button } from '../../design/button.tsx';
import { ErrorNotice, Loading } from '../../design/notice.tsx';
import { Section } from '../../design/page.tsx';
import { State } from '../../design/state.tsx';
import { Table } from '../../design/table.tsx';
import { Ago, Time } from '../../design/time.tsx';

type Session = SessionList['data'][number];

/** Where the wallet is signed in, each to be ended. */
export function SessionsSection() {
  const { data, error } = useRead('/sessions');
  const end = useChange(
    (session_id: string) => call('DELETE', '/sessions/:session_id', { params: { session_id } }),
    ['/sessions', '/session'],
  );
  return (
    <Section title="Sessions" lead="Browsers that are signed in with this wallet.">
      {!data && !error && <Loading what="the sessions" />}
      {(error ?? end.error) && (
        <ErrorNotice error={error ?? end.error} money="A session moves no credits by itself." />
      )}
      {data && (
        <Table<Session>
          caption="Sessions of the wallet"
          rows={data.data}
          rowKey={({ id }) => id}
          columns={[
            {
              title: 'Browser',
              cell: ({ browser, is_current }) => (
                <>
                  {browser || 'unnamed'}
                  {is_current && <State tone="ok" word="this one" />}
                </>
              ),
            },
            { title: 'Signed in', cell: ({ signed_in_at }) => <Ago time={signed_in_at} /> },
            { title: 'Last used', cell: ({ last_used_at }) => <Ago time={last_used_at} /> },
            { title: 'Ends', cell: ({ expires_at }) => <Time time={expires_at} /> },
            {
              title: 'Action',
              cell: ({ id, is_current }) => (
                <Button
                  size="small"
                  disabled={end.isPending}
                  onClick={() => end.mutate(id)}
                  aria-label={is_current ? 'End this session' : `End the session ${id}`}
                >
                  End
                </Button>
              ),
            },
          ]}
        />
      )}
    </Section>
  );
}
