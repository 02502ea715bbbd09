import { PageHeader } from '../../design/page.tsx';
import { useSignedIn } from '../../session/signedIn.tsx';
import { KeysSection } from './keysSection.tsx';
import { RulesSection } from './rulesSection.tsx';

export default function OperatorPage() {
  const { roles } = useSignedIn();
  return (
    <>
      <PageHeader title="Operator" />
      {roles.operator && <KeysSection />}
      <RulesSection />
    </>
  );
}
