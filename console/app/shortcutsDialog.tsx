import { Dialog } from '../design/dialog.tsx';
import { Facts } from '../design/page.tsx';
import { useSession } from '../session/session.tsx';
import { navigationFor } from './navigation.ts';

export default function ShortcutsDialog({ onClose }: { readonly onClose: () => void }) {
  const { session } = useSession();
  const keys = (...names: string[]) => names.map((name) => <kbd key={name}>{name} </kbd>);
  return (
    <Dialog title="Keyboard" onClose={onClose}>
      <Facts
        entries={[
          ['Search for a page or a job', keys('⌘', 'K')],
          ['Go to the filter of a list', keys('/')],
          ['Next and previous row', keys('j', 'k')],
          ['Open the row', keys('Enter')],
          ['Next and previous bar of the jobs by time', keys('←', '→')],
          ['Choose several bars', keys('Shift', '←', '→')],
          ['Close what is open', keys('Esc')],
          ...navigationFor(session)
            .flatMap(({ destinations }) => destinations)
            .map(({ name, letter }) => [name, keys('g', letter)] as const),
        ]}
      />
    </Dialog>
  );
}
