import { PromptPart } from '@parley/contracts';
import type { ContextSource, TurnAtHand } from '../context-source.ts';
import type { PromptFeatures } from '../prompt-features.ts';
import { NAMED_FOLDERS, type NamedText, readNamedText } from './named-text.ts';

/** What the settings, or the profile they name, say about how the agent plays its part (P14, P15). */
export interface Character {
  readonly persona?: NamedText | undefined;
  readonly format?: NamedText | undefined;
  readonly ephemeral?: string | undefined;
  readonly skipContextFiles?: boolean | undefined;
}

/**
 * Fills in persona, output format and the ephemeral prompt. The persona is fixed with the first turn
 * of a session and stays, word for word, whatever is edited meanwhile; the format may change at any time.
 */
export function characterSource(character: Character): ContextSource {
  return {
    id: 'character',
    reads: NAMED_FOLDERS.map((folder) => `${folder}/`),
    async gather(turn) {
      const { persona, format, ephemeral, skipContextFiles } = character;
      const [who, shape] = await Promise.all([
        persona === undefined ? null : fixedPersona(persona, turn),
        format === undefined ? null : readNamedText(format, 'output-formats', turn.view),
      ]);
      const features: PromptFeatures = {
        ...(who === null ? {} : { persona: who }),
        ...(shape === null ? {} : { outputFormat: shape }),
        ...(ephemeral === undefined ? {} : { ephemeral: fromSettings(ephemeral) }),
        ...(skipContextFiles === undefined ? {} : { skipContextFiles }),
      };
      return features;
    },
  };
}

/** Null is not kept: a session that began without a persona can still be given its one. */
async function fixedPersona(persona: NamedText, turn: TurnAtHand): Promise<PromptPart | null> {
  const now = await readNamedText(persona, 'personas', turn.view);
  if (now === null || turn.fix === undefined) return now;
  return turn.fix('persona', now, PromptPart);
}

function fromSettings(text: string): PromptPart {
  return { text, source: 'settings', audience: { kind: 'everyone' } };
}
