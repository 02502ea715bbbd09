import type { CompletionRequest } from '../../data/samples.ts';
import { Button } from '../../design/button.tsx';
import type { Answer } from './answer.ts';

/** Saves the stream and the request as they were: `svc verify` and the Verify page take both files. */
export function SavedAnswer({ answer, request }: { answer: Answer; request: CompletionRequest }) {
  const name = answer.jobId ?? 'answer';
  return (
    <>
      <Button size="small" onClick={() => save(`${name}.sse`, answer.stream)}>
        Save this answer
      </Button>
      <Button size="small" onClick={() => save(`${name}.request.json`, JSON.stringify(request))}>
        Save its request
      </Button>
    </>
  );
}

function save(name: string, text: string): void {
  const url = URL.createObjectURL(new Blob([text]));
  const link = document.createElement('a');
  Object.assign(link, { href: url, download: name });
  link.click();
  URL.revokeObjectURL(url);
}
