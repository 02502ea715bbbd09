import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ConfigError } from '../../common/config.ts';
import { type ModelCard, parseModelCard } from '../../common/contracts/modelCard.ts';
import type { Logger } from '../../common/logger.ts';
import { bytesToHex } from '../../programs/client/platform/bytes.ts';
import { modelCardHash } from '../../programs/client/proof.ts';

/** Cards by their sha256 in hex. Only one that a Model's `card_hash` names is ever shown. */
export type ModelCards = ReadonlyMap<string, ModelCard>;

/**
 * Reads every *.json of the folder. A card that no model pins is logged: it is served once one does.
 *
 * @param options.folder without one there are no cards
 * @param options.models those of the ledger at present
 * @throws ConfigError with the file that is no card, or for a folder that cannot be read
 */
export function readModelCards(options: {
  folder: string | undefined;
  models: readonly { card_hash: string | null }[];
  logger: Logger;
}): ModelCards {
  const { folder, models, logger } = options;
  if (folder === undefined) return new Map();
  const pinned = new Set(models.map(({ card_hash }) => card_hash));
  const cards = new Map<string, ModelCard>();
  for (const file of listCards(folder)) {
    const { card, hash } = readCard(join(folder, file));
    cards.set(hash, card);
    if (!pinned.has(hash)) logger.warn({ msg: 'No model pins this card', file, card_hash: hash });
  }
  return cards;
}

function listCards(folder: string): string[] {
  try {
    return readdirSync(folder).filter((file) => file.endsWith('.json'));
  } catch (error) {
    throw new ConfigError(
      `SVC_MODEL_CARDS_DIR: no cards can be read from ${folder}: ${(error as Error).message}`,
    );
  }
}

function readCard(path: string): { card: ModelCard; hash: string } {
  try {
    const card = parseModelCard(readFileSync(path, 'utf8'));
    return { card, hash: bytesToHex(modelCardHash(card)) };
  } catch (error) {
    throw new ConfigError(`SVC_MODEL_CARDS_DIR: ${path} is no card: ${(error as Error).message}`);
  }
}
