import { closestMatch } from 'leven';
import { ApiError } from '../contracts/errors.ts';

/** An error repeats no more of what was sent. */
const ID_SHOWN_MAX = 256;
/** A shorter beginning names too many models. */
const BEGINNING_MIN = 4;
/** Fewer of its letters differ than this share. */
const NEAR = 0.4;

/** The refusal of an id of no model. It names the nearest of those that can be asked. */
export function unknownModel(
  modelId: string,
  known: readonly { id: string }[],
  options: { param: string; status?: 404 },
): ApiError {
  const shown = modelId.length > ID_SHOWN_MAX ? 'an id that long' : `the id '${modelId}'`;
  const ids = known.map(({ id }) => id);
  const nearest = modelId.length > ID_SHOWN_MAX ? undefined : nearestOf(modelId, ids);
  const remedy = nearest === undefined ? '' : ` Did you mean '${nearest}'?`;
  return new ApiError('model_not_found', `No model has ${shown}.${remedy}`, options);
}

/** By its letters and digits, as other services spell it too: `vendor/Name-8B`, `name:8b`, `name-3-2`. */
function nearestOf(modelId: string, ids: readonly string[]): string | undefined {
  const asked = lettersOf(modelId.split('/').at(-1) ?? '');
  const byLetters = new Map(ids.map((id) => [lettersOf(id), id]));
  const spellings = [...byLetters.keys()];
  const beginning = spellings.find(
    (letters) =>
      asked.length >= BEGINNING_MIN && (letters.startsWith(asked) || asked.startsWith(letters)),
  );
  const maxDistance = Math.floor(asked.length * NEAR);
  const found = byLetters.has(asked)
    ? asked
    : (beginning ?? closestMatch(asked, spellings, { maxDistance }));
  return byLetters.get(found ?? '');
}

const lettersOf = (id: string): string => id.toLowerCase().replace(/[^a-z\d]/g, '');
