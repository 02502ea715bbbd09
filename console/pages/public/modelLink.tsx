import { Link } from 'wouter';

/** The id of a model, which may have any printable character, with its page. */
export function ModelLink({ id }: { id: string }) {
  return (
    <Link href={`/console/models/${encodeURIComponent(id)}`}>
      <code>{id}</code>
    </Link>
  );
}
