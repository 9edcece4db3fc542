import { absent, type Layer } from '../layer.ts';
import type { ToolNote } from '../prompt-features.ts';
import { readContextFile } from './context-file.ts';

const SEARCH =
  'Before you speak of earlier work, decisions, dates, people, preferences or to-dos, look them up with `search_memory`. If nothing is found, say that you looked.';

const SAVE = `Save what will matter later with \`save_memory\`: a preference, fact, skill, habit or constraint, for the user, the project or this session.
- Save at once when somebody says: remember, I like, I don't like, always, never, 记住, 我喜欢, 我不喜欢, 我的偏好, 以后, 总是, 从不.
- Never save passwords, keys, or what somebody asked you to forget.`;

/**
 * When to remember and when to look things up (G13, G14), for whoever has the tools to do so, and the
 * memory itself where the layout names its file.
 */
export const memoryGuideLayer: Layer = {
  id: 'memory-guide',
  volatility: 'session',
  placement: 'system',
  async render(context, { heading = '## Memory', files: [file] = [], characters }) {
    const guide = guideFor(context.tools ?? []);
    const found =
      file === undefined ? absent('') : await readContextFile(context, file, characters);
    if ('absent' in found) {
      if (guide.length === 0) return absent('there are no tools for memory');
      const text = [heading, ...guide].join('\n');
      return { text, source: 'Parley', audience: { kind: 'everyone' } };
    }
    const { source, audience, cut } = found;
    const text = [[heading, ...guide].join('\n'), `## ${source}\n${found.text}`].join('\n\n');
    return { text, source: guide.length === 0 ? source : `Parley, ${source}`, audience, cut };
  },
};

function guideFor(tools: readonly ToolNote[]): readonly string[] {
  return [
    ...(has(tools, 'search_memory') ? [SEARCH] : []),
    ...(has(tools, 'save_memory') ? [SAVE] : []),
  ];
}

function has(tools: readonly ToolNote[], name: string): boolean {
  return tools.some((tool) => tool.name === name && tool.placeholder !== true);
}
