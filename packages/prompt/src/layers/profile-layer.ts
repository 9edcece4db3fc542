import type { PromptPart } from '@parley/contracts';
import type { WorkspaceFile } from '@parley/workspace';
import { absent, type Layer, type LayerOptions } from '../layer.ts';
import type { PromptContext } from '../prompt-context.ts';
import { readContextFile } from './context-file.ts';
import { narrowestAudience } from './narrowest-audience.ts';
import { quotedBlock } from './quoted-block.ts';

/** What is known of the person and of what they work on (G14). */
export const profileLayer: Layer = {
  id: 'profile',
  volatility: 'session',
  placement: 'system',
  async render(context, options) {
    const { heading = '## Profile' } = options;
    const { userProfile, projectProfile, reader } = context;
    const file = await ownersFile(context, options);
    const parts = [
      ...(file === null ? [] : [{ part: file, text: file.text }]),
      ...(userProfile === undefined ? [] : [summary('The person', userProfile)]),
      ...(projectProfile === undefined ? [] : [summary('The project', projectProfile)]),
    ];
    if (parts.length === 0) return absent('nothing is known yet');
    return {
      text: [heading, parts.map(({ text }) => text).join('\n\n')].join('\n'),
      source: parts.map(({ part }) => part.source).join(', '),
      audience: narrowestAudience(
        parts.map(({ part }) => part),
        reader,
      ),
      cut: file?.cut ?? null,
    };
  },
};

/** USER.md is about the owner: with anybody else it would be taken for a word about them. */
async function ownersFile(
  context: PromptContext,
  { files: [file] = [], characters }: LayerOptions,
): Promise<WorkspaceFile | null> {
  if (file === undefined || context.reader.kind !== 'owner') return null;
  const found = await readContextFile(context, file, characters);
  return 'absent' in found ? null : found;
}

function summary(title: string, part: PromptPart): { part: PromptPart; text: string } {
  return { part, text: `${title}, from what was saved:\n${quotedBlock(part.text)}` };
}
