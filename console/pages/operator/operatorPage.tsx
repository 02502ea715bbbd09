import { useCallback, useState } from 'react';
import { mayRead } from '../../data/access.ts';
import { useRead } from '../../data/queries.ts';
import { PageHeader } from '../../design/page.tsx';
import { APP_PAGES } from '../../routes.ts';
import { useSignedIn } from '../../session/signedIn.tsx';
import { KeysSection } from './keysSection.tsx';
import { RulesSection } from './rulesSection.tsx';

export default function OperatorPage() {
  const mayReadKeys = mayRead('/operator/keys', useSignedIn());
  const [areKeysRead, setKeysRead] = useState(!mayReadKeys);
  const onRead = useCallback(() => setKeysRead(true), []);
  // Read beside the keys, for the section below, which they would move.
  useRead('/operator/ledger');
  return (
    <>
      <PageHeader {...APP_PAGES['/console/operator'].head} />
      {mayReadKeys && <KeysSection onRead={onRead} />}
      {areKeysRead && <RulesSection />}
    </>
  );
}
