import type { PromptPart } from '@parley/contracts';
import type { WorkspaceView } from '@parley/workspace';

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
 * this reader may not see stands for nothing: what an operator keeps private must not be replaced by
 * somebody else in a group. Null where there is nothing to say.
 */
export async function readNamedText(
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
