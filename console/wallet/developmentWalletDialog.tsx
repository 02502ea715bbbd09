import { Button } from '../design/button.tsx';
import { Pre } from '../design/code.tsx';
import { Dialog } from '../design/dialog.tsx';
import { Notice } from '../design/notice.tsx';
import { Row, Stack } from '../design/page.tsx';
import { Address } from '../design/values.tsx';
import type { DevelopmentQuestion } from './developmentWallet.ts';

/** The development wallet's own window: which account, and whether to sign. */
export default function DevelopmentWalletDialog({ question }: { question: DevelopmentQuestion }) {
  return question.kind === 'account' ? (
    <AccountQuestion question={question} />
  ) : (
    <SignatureQuestion question={question} />
  );
}

function AccountQuestion({
  question,
}: {
  question: Extract<DevelopmentQuestion, { kind: 'account' }>;
}) {
  return (
    <Dialog
      title="DEVELOPMENT wallet: choose an account"
      onClose={() => question.answer(undefined)}
    >
      <Stack>
        {question.accounts.map((account) => (
          <Row key={account.address}>
            <Button onClick={() => question.answer(account)}>{account.name}</Button>
            <Address address={account.address} what={`the address of ${account.name}`} />
          </Row>
        ))}
      </Stack>
    </Dialog>
  );
}

function SignatureQuestion({
  question,
}: {
  question: Exclude<DevelopmentQuestion, { kind: 'account' }>;
}) {
  return (
    <Dialog
      title={`DEVELOPMENT wallet: sign this ${question.kind}?`}
      onClose={() => question.answer(false)}
      foot={
        <>
          <Button onClick={() => question.answer(false)}>Decline</Button>
          <Button kind="primary" onClick={() => question.answer(true)}>
            Sign
          </Button>
        </>
      }
    >
      <Notice tone="warn">
        <p>A key of the local ledger. Its credits and tokens are worth nothing.</p>
      </Notice>
      <Row>
        <span>Signs as</span>
        <Address address={question.account} what="the signing address" />
      </Row>
      {question.text && <Pre code={question.text} label="Message to sign" />}
    </Dialog>
  );
}
