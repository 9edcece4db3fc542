import { PromptPart } from '@parley/core';
import type { WorkspaceView } from '@parley/workspace';
import type { ContextSource, PromptFeatures, TurnAtHand } from './layer.ts';

/** What the settings, or the profile they name, say about how the agent plays its part (P14, P15). */
export interface Character {
  readonly persona?: NamedText | undefined;
  readonly format?: NamedText | undefined;
  readonly ephemeral?: string | undefined;
  readonly skipContextFiles?: boolean | undefined;
}

/**
 * Fills in persona, output format and the ephemeral prompt. The persona is fixed with the first turn
 * of a session and stays, verbatim, whatever is edited meanwhile; the format may change at any time.
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

/** A persona or an output format that the settings name. */
export interface NamedText {
  /** Without folder and ending. */
  readonly name: string;
  /** The text that comes with Parley under this name; null where none does. */
  readonly house: string | null;
}

/** Folders of the workspace whose files are chosen by name. */
export const NAMED_FOLDERS = ['personas', 'output-formats'] as const;
export type NamedFolder = (typeof NAMED_FOLDERS)[number];

/**
 * The text of that name: the workspace's own file, else the one that comes with Parley. A file that
 * this reader may not see counts as empty: what an operator keeps private must not be replaced by
 * another person in a group. Null where there is nothing to say.
 */
async function readNamedText(
  { name, house }: NamedText,
  folder: NamedFolder,
  view: Pick<WorkspaceView, 'read'>,
): Promise<PromptPart | null> {
  const own = await view.read(`${folder}/${name}.md`);
  if (own.kind === 'file') return { text: own.text, source: own.source, audience: own.audience };
  if (own.reason !== 'missing' || house === null) return null;
  const source = `${folder}/${name}.md of Parley`;
  return { text: house, source, audience: { kind: 'everyone' } };
}
