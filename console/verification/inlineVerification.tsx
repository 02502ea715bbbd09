import { evidenceIn, readAnswer } from '@svc-inference/client/verify';
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
  /** The stream as it came, to be compared. */
  answer?: string | undefined;
}) {
  const { job, wallet, answer } = props;
  const config = useConfig();
  const explorer = useExplorer();
  const verification = useMutation({
    mutationFn: (request: Request) => verify({ ...request, ...comparedIn(answer) }),
  });
  if (config === undefined) return null;
  const request: Request = {
    rpcUrl: config.rpc_url ?? '',
    programId: config.program_id,
    named: job,
    wallet,
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
          {answer === undefined ? 'Verify' : 'Verify this answer'}
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

/** What an answer gives to compare: its text, and with its `svc` what it says of itself and its calls. */
function comparedIn(answer: string | undefined): Partial<Request> {
  if (answer === undefined) return {};
  const saved = readAnswer(answer);
  const content = evidenceIn(saved);
  return { text: saved.text, receipt: content.receipt, answer: { file: saved.jobId, content } };
}
