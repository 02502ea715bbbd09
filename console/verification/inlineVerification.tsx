import { useMutation } from '@tanstack/react-query';
import { useConfig, useExplorer, verifyLink } from '../data/ledger.ts';
import { Button } from '../design/button.tsx';
import { ErrorNotice } from '../design/notice.tsx';
import { Row, Stack } from '../design/page.tsx';
import { Result } from './result.tsx';
import { type Request, verify } from './verify.ts';

/** Verifies a job as part of a page about it. */
export default function InlineVerification(props: {
  job: string;
  wallet: string;
  text?: string | undefined;
  receipt?: string | undefined;
}) {
  const { job, wallet, text, receipt } = props;
  const config = useConfig();
  const explorer = useExplorer();
  const verification = useMutation({ mutationFn: verify });
  if (config === undefined) return null;
  const request: Request = {
    rpcUrl: config.rpc_url ?? '',
    programId: config.program_id,
    named: job,
    wallet,
    text,
    receipt,
  };
  return (
    <Stack>
      <Row>
        <Button
          kind="primary"
          disabled={config.rpc_url === null}
          pending={verification.isPending && 'Verifying…'}
          onClick={() => verification.mutate(request)}
        >
          {text === undefined ? 'Verify' : 'Verify this answer'}
        </Button>
        <a href={verifyLink(job, { rpc: config.rpc_url, program: config.program_id, wallet })}>
          Verify by another node
        </a>
      </Row>
      {config.rpc_url === null && (
        <p className="soft">
          This service names no ledger's node for browsers. Verify by a node of your own.
        </p>
      )}
      <ErrorNotice error={verification.error} money="Nothing was verified, and nothing changed." />
      {verification.data && (
        <Result verification={verification.data} transactionLink={explorer.transaction} />
      )}
    </Stack>
  );
}
