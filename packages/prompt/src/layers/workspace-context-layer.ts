import type { Cut, WorkspaceFile } from '@parley/workspace';
import { absent, type Layer, type LayerOptions } from '../layer.ts';
import type { PromptContext } from '../prompt-context.ts';
import { purposeOf, readContextFile } from './context-file.ts';
import { narrowestAudience } from './narrowest-audience.ts';
import { shownWorkspace } from './shown-path.ts';
import { pointToTools } from './tools-placeholder.ts';

/** Several files of the workspace in one section, under limits for each and for all (P04, P07). */
export const workspaceContextLayer: Layer = {
  id: 'workspace-context',
  volatility: 'session',
  placement: 'system',
  modes: ['full', 'minimal'],
  async render(context, options) {
    const { heading = '# Workspace Context', files = [] } = options;
    const { found, missing } = await readWithin(context, files, options);
    if (found.length === 0) return absent(missing.join('; ') || 'the layout names no files');
    const root = `Workspace root: ${shownWorkspace(context)}`;
    const text = [`${heading}\n${root}`, ...found.map(section)].join('\n\n');
    const source = found.map((file) => file.source).join(', ');
    return { text, source, audience: narrowestAudience(found, context.reader), cut: cutOf(found) };
  },
};

/** Reads all at once and cuts afterwards: only then is it known how much room the others leave. */
async function readWithin(
  context: PromptContext,
  files: readonly string[],
  { characters, charactersInAll = Number.POSITIVE_INFINITY }: LayerOptions,
): Promise<{ found: readonly WorkspaceFile[]; missing: readonly string[] }> {
  const read = await Promise.all(files.map((file) => readContextFile(context, file, characters)));
  const found: WorkspaceFile[] = [];
  let room = charactersInAll;
  for (const file of read) {
    if ('absent' in file) continue;
    const fits = shownOf(file) <= room;
    const fitted = fits ? file : await readContextFile(context, file.source, Math.max(0, room));
    if ('absent' in fitted) continue;
    room -= shownOf(fitted);
    found.push(fitted);
  }
  return { found, missing: read.flatMap((file) => ('absent' in file ? [file.absent] : [])) };
}

function section({ source, text }: WorkspaceFile): string {
  const purpose = purposeOf(source);
  return `## ${source}\n${purpose === '' ? '' : `Purpose: ${purpose}\n\n`}${pointToTools(text)}`;
}

/** Characters of the file itself, without the line that says it was cut. */
function shownOf({ text, cut }: WorkspaceFile): number {
  return cut?.shown ?? text.length;
}

function cutOf(files: readonly WorkspaceFile[]): Cut | null {
  if (files.every(({ cut }) => cut === null)) return null;
  const sum = (of: (file: WorkspaceFile) => number): number =>
    files.reduce((total, file) => total + of(file), 0);
  return { shown: sum(shownOf), total: sum((file) => file.cut?.total ?? file.text.length) };
}
