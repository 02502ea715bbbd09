import type { SessionList } from '../../../api/contracts/index.ts';
import { useRead } from '../../data/queries.ts';
import { call } from '../../data/request.ts';
import { useChange } from '../../data/useChange.ts';
import { Button } from '../../design/button.tsx';
import { ErrorNotice, Reading } from '../../design/notice.tsx';
import { Section } from '../../design/page.tsx';
import { Table } from '../../design/table.tsx';
import { Ago, Ahead } from '../../design/time.tsx';
import { State } from '../../design/values.tsx';
import { useSession } from '../../session/session.tsx';
import { deviceOf } from './device.ts';

type Session = SessionList['data'][number];

/** Where the wallet is signed in, each to be ended. */
export function SessionsSection() {
  const read = useRead('/sessions');
  const { data } = read;
  const { signOut } = useSession();
  const end = useChange(
    ({ id, is_current }: Session): Promise<unknown> =>
      // The page has to be left then, as it is on a reload.
      is_current
        ? signOut()
        : call('DELETE', '/sessions/:session_id', { params: { session_id: id } }),
    ['/sessions'],
  );
  return (
    <Section title="Sessions" lead="Devices that are signed in with this wallet.">
      <Reading of={read} what="the sessions" />
      <ErrorNotice error={end.error} money="A session moves no credits by itself." />
      {data && (
        <Table<Session>
          caption="Sessions of the wallet"
          rows={data.data}
          rowKey={({ id }) => id}
          columns={[
            {
              title: 'Device',
              cell: ({ browser, is_current }) => (
                <>
                  <span title={browser}>{deviceOf(browser)}</span>
                  {is_current && <State tone="ok" word="this one" />}
                </>
              ),
            },
            { title: 'Signed in', cell: ({ signed_in_at }) => <Ago time={signed_in_at} /> },
            { title: 'Last used', cell: ({ last_used_at }) => <Ago time={last_used_at} /> },
            { title: 'Ends', cell: ({ expires_at }) => <Ahead time={expires_at} /> },
            {
              title: 'Action',
              isKey: true,
              isAction: true,
              cell: (session) => (
                <Button
                  size="small"
                  disabled={end.isPending}
                  onClick={() => end.mutate(session)}
                  aria-label={
                    session.is_current ? 'End this session' : `End the session ${session.id}`
                  }
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
